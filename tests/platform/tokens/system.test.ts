import { type Data } from '../../../src/platform/tokens/lead-data';
import { CALL_TOKENS, leadTokens, type SystemFacts } from '../../../src/platform/tokens/system';
import { checkPrototype, parseData } from '../../support/lead-data';

checkPrototype();

describe('the tokens of a lead', () => {
  const facts: SystemFacts = {
    ...{
      caller_id: '+13105550123',
      service_number: '+18005550100',
      offer_name: 'Solar',
      buyer_name: 'Acme',
      call_uuid: 'u-1',
      total_duration: 0,
    },
    ...{
      revenue: '12.50',
      payout: '0.00',
      previous_buyer_fleet_ids: ['3', '5'],
      calls_last: { 1: 0, 7: 2, 30: 4, 90: 8 },
    },
  };
  const nothing = {
    ...facts,
    service_number: undefined,
    offer_name: undefined,
    buyer_name: undefined,
    call_uuid: undefined,
    total_duration: undefined,
  };
  const system = {
    ...{
      caller_id: '+13105550123',
      buyer_name: 'Acme',
      offer_name: 'Solar',
      call_uuid: 'u-1',
      total_duration: '0',
      revenue: '12.50',
      payout: '0.00',
    },
    ...{ service_number: '+18005550100', previous_buyer_fleet_ids: '3,5' },
    ...{
      calls_last_1_days: '0',
      calls_last_7_days: '2',
      calls_last_30_days: '4',
      calls_last_90_days: '8',
    },
  };

  test.each(Object.entries(system))(
    '%s is what the service knows, %j, unless the lead has its own',
    (name, value) => {
      expect(leadTokens({}, facts)(name)).toBe(value);
      expect(leadTokens({ [name]: null }, facts)(name)).toBe(value);
      expect(leadTokens({ [name]: 'own' }, facts)(name)).toBe('own');
    },
  );
  test('there is none of what the service does not know', () => {
    const tokens = leadTokens({}, nothing);
    expect(
      ['service_number', 'offer_name', 'buyer_name', 'call_uuid', 'total_duration'].map(tokens),
    ).toEqual(Array(5).fill(undefined));
  });
  test.each<[string, string, Data, string | undefined]>([
    [
      'the lead’s own first name',
      'first_name',
      { first_name: 'Ada', full_name: 'Grace Hopper' },
      'Ada',
    ],
    [
      'the first name out of the full name',
      'first_name',
      { full_name: 'Ada King Lovelace', name: 'Grace' },
      'Ada',
    ],
    ['one word', 'first_name', { full_name: 'Ada' }, 'Ada'],
    ['blanks around it', 'first_name', { full_name: ' \tAda\n Lovelace' }, 'Ada'],
    [
      'the first name out of the name',
      'first_name',
      { full_name: ' ', name: 'Grace Hopper' },
      'Grace',
    ],
    ['no name', 'first_name', { full_name: '', name: ' ' }, undefined],
    ['nothing of a name', 'first_name', {}, undefined],
    ['the state', 'geo_state', { state: 'CA' }, 'CA'],
    ['the state or province first', 'geo_state', { state_province: 'ON', state: 'CA' }, 'ON'],
    [
      'the state when the province is blank',
      'geo_state',
      { state_province: '', state: 'CA' },
      'CA',
    ],
    ['its own geo_state', 'geo_state', { geo_state: 'NV', state: 'CA' }, 'NV'],
    ['no state', 'geo_state', {}, undefined],
    ['other data', 'zip', { zip: 90210 }, '90210'],
  ])('%s', (_name, token, data, value) => expect(leadTokens(data, facts)(token)).toBe(value));

  test.each([
    'gone',
    '',
    'FIRST_NAME',
    'calls_last_2_days',
    '__proto__',
    'constructor',
    'toString',
    'to_string',
    'hasOwnProperty',
    'valueOf',
  ])('there is none of the name %j', (name) => expect(leadTokens({}, facts)(name)).toBeUndefined());
  test('data under names of JavaScript are data', () => {
    const tokens = leadTokens(parseData('{"__proto__":"p","constructor":"c"}'), facts);
    expect(['__proto__', 'constructor', 'toString'].map(tokens)).toEqual(['p', 'c', undefined]);
  });
  test('those that cost a look at the calls are tokens', () =>
    expect(CALL_TOKENS.map(leadTokens({}, facts))).not.toContain(undefined));
});
