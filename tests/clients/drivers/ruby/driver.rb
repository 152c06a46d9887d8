# region docs
require 'openapi_client'

OpenapiClient.configure do |config|
  config.scheme, config.host = ENV.fetch('TRUNKLINE_URL').split(%r{://|/})
  config.username, config.password = ENV.values_at('TRUNKLINE_KEY', 'TRUNKLINE_SECRET')
end
buyers = OpenapiClient::BuyersApi.new
coast = OpenapiClient::BuyerCreate.new(name: 'Coast', number: '+13105550123')
made = buyers.create_buyer(coast, idempotency_key: 'coast-1').buyer
buyers.update_buyer(made.id.to_s, OpenapiClient::BuyerUpdate.new(name: 'Coast Legal'))
page = buyers.list_buyers(cursor: -1, per_page: 2) # next: page.metadata.next_cursor
begin
  buyers.create_buyer(OpenapiClient::BuyerCreate.new(name: 'Coast', number: '555'))
rescue OpenapiClient::ApiError => e
  problem = OpenapiClient::Problem.build_from_hash(JSON.parse(e.response_body))
end
# endregion

again = buyers.create_buyer(coast, idempotency_key: 'coast-1').buyer
shown = buyers.show_buyer(made.id.to_s).buyer

pages = []
cursor = -1
until cursor == 0
  page = buyers.list_buyers(cursor: cursor, per_page: 2)
  pages << page.buyers.map(&:name)
  cursor = page.metadata.next_cursor
end

rename = OpenapiClient::ScheduleUpdate.new(name: 'New')
OpenapiClient::SchedulesApi.new.update_schedule(ENV.fetch('SCHEDULE_ID'), rename)

submission = OpenapiClient::LeadSubmission.new(
  lead_token: ENV.fetch('LEAD_TOKEN'),
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' }
)
lead = OpenapiClient::LeadsApi.new.submit_lead(lead_submission: submission).lead

files = OpenapiClient::BuyerSuppressionFilesApi.new
File.write('numbers.csv', "6175550144\nnone\n")
file = files.create_buyer_suppression_file(
  buyer_suppression_id: ENV.fetch('SUPPRESSION_ID'),
  import_file: File.new('numbers.csv')
).buyer_suppression_file
while %w[pending running].include?(file.status)
  sleep 0.1
  file = files.show_buyer_suppression_file(file.id.to_s).buyer_suppression_file
end

begin_call = OpenapiClient::CallSessionCreate.new(
  offer_id: ENV.fetch('OFFER_ID'),
  caller_number: '+13105550177'
)
call = OpenapiClient::CallSessionsApi.new.create_call_session(begin_call).call_session
decision = OpenapiClient::RoutingApi.new.show_call_decision(call.uuid).decisions.first

puts JSON.generate(
  created: [made.name, again.id == made.id],
  shown: shown.name,
  pages: pages,
  lead: [lead.caller_id, lead.data],
  imported: [file.status, file.import_count, file.rejected_count],
  call: [call.instruction.action, call.instruction.dial.map(&:name)],
  decision: decision.candidates.map { |buyer| [buyer.name, buyer.chosen] },
  problem: [problem.status, problem.errors.keys]
)
