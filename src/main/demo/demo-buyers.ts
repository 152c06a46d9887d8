import type { Schemas } from '../../platform/contract/contract';

const WEEKDAYS = [1, 2, 3, 4, 5];
const OFFICE = WEEKDAYS.map((day) => ({ day, times: ['09:00..17:59'] }));
const EVENINGS = WEEKDAYS.map((day) => ({ day, times: ['17:00..21:59'] }));

/** `fleet` has the ids of the fleets by user_fleet_id. */
export function buildDemoBuyers(fleet: Record<string, string>): Schemas['BuyerCreate'][] {
  return [...autoInsurers(fleet), homeInsurer(fleet), ...nightDesks(fleet)];
}

function autoInsurers(fleet: Record<string, string>): Schemas['BuyerCreate'][] {
  return [
    {
      name: 'Acme Insurance, Los Angeles',
      user_buyer_id: 'acme_la',
      number: '+13105550111',
      email: 'desk@acme.example',
      time_zone: 'Pacific Time (US & Canada)',
      weight: 70,
      concurrency_cap_limit: 6,
      attempt_daily_limit: 200,
      buyer_fleet_id: fleet.auto!,
      record_calls: true,
      record_token_filter_list: ['state:in CA,NV,OR'],
      business_hours_schedule: [{ connection_hourly_limit: 25, schedule: OFFICE }],
      current_conversion_name: '90 seconds',
      current_conversion_revenue: 24.5,
      current_conversion_duration: 90,
      current_conversion_duplicate_timeframe: 86_400,
    },
    {
      name: 'Bayline Auto',
      user_buyer_id: 'bayline',
      number: '+14155550122',
      time_zone: 'Pacific Time (US & Canada)',
      weight: 30,
      concurrency_cap_limit: 3,
      revenue_daily_limit: 1_500,
      buyer_fleet_id: fleet.auto!,
      press_one_to_accept: true,
      current_conversion_name: '60 seconds',
      current_conversion_revenue: 19,
      current_conversion_duration: 60,
      current_conversion_duplicate_timeframe: 2_592_000,
    },
  ];
}

function homeInsurer(fleet: Record<string, string>): Schemas['BuyerCreate'] {
  return {
    name: 'Hudson Home',
    user_buyer_id: 'hudson',
    number: '+12125550133',
    route_by_type: 'revenue',
    buyer_fleet_id: fleet.home!,
    connection_monthly_limit: 2_000,
    business_hours_schedule: [{ schedule: OFFICE }],
    buyer_conversions_schedule: [
      {
        buyer_conversions_attributes: [
          { name: 'Office hours', duration: 120, revenue: 38, duplicate_timeframe: 7_200 },
        ],
        schedule: OFFICE,
      },
      {
        buyer_conversions_attributes: [
          { name: 'Evening', duration: 120, revenue: 27, duplicate_timeframe: 7_200 },
        ],
        schedule: EVENINGS,
      },
    ],
  };
}

function nightDesks(fleet: Record<string, string>): Schemas['BuyerCreate'][] {
  return [
    {
      name: 'Harbor night desk',
      user_buyer_id: 'harbor_night',
      number: '+16175550144',
      tier: 2,
      dtmf_tones: 'ww1',
      buyer_fleet_id: fleet.home!,
      current_conversion_revenue: 12,
      current_conversion_duration: 45,
    },
    {
      name: 'Hillside VoIP',
      user_buyer_id: 'hillside_voip',
      number: 'sip:intake@pbx.hillside.example',
      tier: 2,
      timeout_seconds: 25,
      current_conversion_revenue: 11,
      current_conversion_duration: 45,
    },
    {
      name: 'Summit Legal',
      user_buyer_id: 'summit',
      number: '+17205550155',
      time_zone: 'America/Denver',
      paused: true,
      tier: 3,
      current_conversion_revenue: 55,
      current_conversion_duration: 180,
    },
  ];
}
