# region docs
import os
from base64 import b64encode
from trunkline_client import AuthenticatedClient
from trunkline_client.api.buyers import create_buyer, list_buyers, update_buyer
from trunkline_client.models import BuyerCreate, BuyerUpdate

token = b64encode(f"{os.environ['TRUNKLINE_KEY']}:{os.environ['TRUNKLINE_SECRET']}".encode())
trunkline = AuthenticatedClient(os.environ["TRUNKLINE_URL"], token.decode(), prefix="Basic")
coast = BuyerCreate(name="Coast", number="+13105550123")
made = create_buyer.sync(client=trunkline, body=coast, idempotency_key="coast-1").buyer
update_buyer.sync(str(made.id), client=trunkline, body=BuyerUpdate(name="Coast Legal"))
page = list_buyers.sync(client=trunkline, cursor=-1, per_page=2)
wrong = BuyerCreate(name="Coast", number="555")
problem = create_buyer.sync(client=trunkline, body=wrong)  # a Problem
# endregion
import json
import time
from io import BytesIO

from trunkline_client.api.buyer_suppression_files import (
    create_buyer_suppression_file,
    show_buyer_suppression_file,
)
from trunkline_client.api.buyers import show_buyer
from trunkline_client.api.call_sessions import create_call_session
from trunkline_client.api.leads import submit_lead
from trunkline_client.api.routing import show_call_decision
from trunkline_client.api.schedules import update_schedule
from trunkline_client.models import (
    BuyerSuppressionFileUpload,
    CallSessionCreate,
    LeadSubmission,
    Problem,
    ScheduleUpdate,
    TokenValues,
)
from trunkline_client.types import File

again = create_buyer.sync(client=trunkline, body=coast, idempotency_key="coast-1").buyer
shown = show_buyer.sync(str(made.id), client=trunkline).buyer

pages = []
cursor = -1
while cursor != 0:
    page = list_buyers.sync(client=trunkline, cursor=cursor, per_page=2)
    pages.append([buyer.name for buyer in page.buyers])
    cursor = page.metadata.next_cursor

update_schedule.sync(os.environ["SCHEDULE_ID"], client=trunkline, body=ScheduleUpdate(name="New"))

lead = submit_lead.sync(
    client=trunkline,
    body=LeadSubmission(
        lead_token=os.environ["LEAD_TOKEN"],
        caller_id="(310) 555-0177",
        data=TokenValues.from_dict({"first_name": "Ann"}),
    ),
).lead

upload = BuyerSuppressionFileUpload(
    buyer_suppression_id=os.environ["SUPPRESSION_ID"],
    import_file=File(BytesIO(b"6175550144\nnone\n"), file_name="numbers.csv"),
)
file = create_buyer_suppression_file.sync(client=trunkline, body=upload).buyer_suppression_file
while file.status in ("pending", "running"):
    time.sleep(0.1)
    file = show_buyer_suppression_file.sync(str(file.id), client=trunkline).buyer_suppression_file

call = create_call_session.sync(
    client=trunkline,
    body=CallSessionCreate(offer_id=os.environ["OFFER_ID"], caller_number="+13105550177"),
).call_session
[decision] = show_call_decision.sync(str(call.uuid), client=trunkline).decisions

assert isinstance(problem, Problem)
print(
    json.dumps(
        {
            "created": [made.name, again.id == made.id],
            "shown": shown.name,
            "pages": pages,
            "lead": [lead.caller_id, lead.data.to_dict()],
            "imported": [file.status, file.import_count, file.rejected_count],
            "call": [call.instruction.action, [dial.name for dial in call.instruction.dial]],
            "decision": [[buyer.name, buyer.chosen] for buyer in decision.candidates],
            "problem": [problem.status, list(problem.errors.to_dict())],
        }
    )
)
