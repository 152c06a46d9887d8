# region docs
import os
from openapi_client import ApiClient, BuyerCreate, BuyersApi, BuyerUpdate, Configuration
from openapi_client.exceptions import UnprocessableEntityException

credentials = {"username": os.environ["TRUNKLINE_KEY"], "password": os.environ["TRUNKLINE_SECRET"]}
trunkline = ApiClient(Configuration(host=os.environ["TRUNKLINE_URL"], **credentials))
buyers = BuyersApi(trunkline)
coast = BuyerCreate(name="Coast", number="+13105550123")
made = buyers.create_buyer(coast, idempotency_key="coast-1").buyer
buyers.update_buyer(str(made.id), BuyerUpdate(name="Coast Legal"))
page = buyers.list_buyers(cursor=-1, per_page=2)  # next: cursor=page.metadata.next_cursor
try:
    buyers.create_buyer(BuyerCreate(name="Coast", number="555"))
except UnprocessableEntityException as refused:
    problem = refused.data  # problem.errors["number"] says what is allowed
# endregion
import json
import time

from openapi_client import (
    BuyerSuppressionFilesApi,
    CallSessionCreate,
    CallSessionsApi,
    LeadsApi,
    LeadSubmission,
    RoutingApi,
    ScheduleUpdate,
    SchedulesApi,
)

again = buyers.create_buyer(coast, idempotency_key="coast-1").buyer
shown = buyers.show_buyer(str(made.id)).buyer

pages = []
cursor = -1
while cursor != 0:
    page = buyers.list_buyers(cursor=cursor, per_page=2)
    pages.append([buyer.name for buyer in page.buyers])
    cursor = page.metadata.next_cursor

SchedulesApi(trunkline).update_schedule(os.environ["SCHEDULE_ID"], ScheduleUpdate(name="New"))

lead = (
    LeadsApi(trunkline)
    .submit_lead(
        lead_submission=LeadSubmission(
            lead_token=os.environ["LEAD_TOKEN"],
            caller_id="(310) 555-0177",
            data={"first_name": "Ann"},
        )
    )
    .lead
)

files = BuyerSuppressionFilesApi(trunkline)
file = files.create_buyer_suppression_file(
    buyer_suppression_id=os.environ["SUPPRESSION_ID"],
    import_file=("numbers.csv", b"6175550144\nnone\n"),
).buyer_suppression_file
while file.status in ("pending", "running"):
    time.sleep(0.1)
    file = files.show_buyer_suppression_file(str(file.id)).buyer_suppression_file

call = (
    CallSessionsApi(trunkline)
    .create_call_session(
        CallSessionCreate(offer_id=os.environ["OFFER_ID"], caller_number="+13105550177")
    )
    .call_session
)
[decision] = RoutingApi(trunkline).show_call_decision(str(call.uuid)).decisions

print(
    json.dumps(
        {
            "created": [made.name, again.id == made.id],
            "shown": shown.name,
            "pages": pages,
            "lead": [lead.caller_id, lead.data],
            "imported": [file.status, file.import_count, file.rejected_count],
            "call": [call.instruction.action, [dial.name for dial in call.instruction.dial]],
            "decision": [[buyer.name, buyer.chosen] for buyer in decision.candidates],
            "problem": [problem.status, list(problem.errors)],
        }
    )
)
