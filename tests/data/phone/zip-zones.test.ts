import { zipZones } from '../../../src/data/phone/zip-zones';
import { ianaName } from '../../../src/platform/time/zone';
import { CENTRAL, EASTERN, MOUNTAIN, PACIFIC } from '../../support/contact-hours';

describe('the zones of a ZIP code', () => {
  test.each([
    ['79901', [MOUNTAIN]],
    ['79830', [CENTRAL, MOUNTAIN]],
    ['78701', [CENTRAL]],
    ['32501', [CENTRAL]],
    ['32201', [EASTERN]],
    ['32456', [EASTERN, CENTRAL]],
    ['83814', [PACIFIC]],
    ['83702', [MOUNTAIN]],
    ['83501', [MOUNTAIN, PACIFIC]],
    ['47901', [EASTERN, CENTRAL]],
    ['47708', [CENTRAL]],
    ['46402', [CENTRAL]],
    ['42001', [CENTRAL]],
    ['37402', [EASTERN]],
    ['49801', [EASTERN, CENTRAL]],
    ['57501', [CENTRAL, MOUNTAIN]],
    ['58701', [CENTRAL]],
    ['69101', [CENTRAL, MOUNTAIN]],
    ['97914', [MOUNTAIN, PACIFIC]],
    ['86040', [MOUNTAIN, 'America/Phoenix']],
    ['85001', ['America/Phoenix']],
    ['00901', ['America/Puerto_Rico']],
    ['96799', ['Pacific/Pago_Pago']],
    ['96701', ['Pacific/Honolulu']],
    ['99901', ['America/Anchorage']],
    ['99546', ['America/Adak']],
    [' 02134-1000 ', [EASTERN]],
    ['021341000', [EASTERN]],
    ['606', [CENTRAL]],
    ['A1C 5S7', ['America/St_Johns']],
    ['A2V', ['America/Goose_Bay']],
    ['b3h4r2', ['America/Halifax']],
    ['V6B 1A1', ['America/Vancouver']],
    ['V1J', ['America/Dawson_Creek']],
    ['P', ['America/Toronto', 'America/Winnipeg']],
    ['P3E 1A1', ['America/Toronto']],
    ['P9N-1A1', ['America/Winnipeg']],
    ['S4P 3Y2', ['America/Regina']],
    ['T', ['America/Edmonton']],
  ])('%s', (zip, zones) => expect(zipZones(zip)).toEqual(zones));
  test.each([
    '',
    '99999',
    '00000',
    '09012',
    '34002',
    '96201',
    '2134',
    '123456',
    '9021O',
    'W1A 1AA',
    'D04 X285',
    'Q',
    'A1',
    'constructor',
    '٩٠٢١٠',
  ])('%p is none, or of no place', (zip) => expect(zipZones(zip)).toEqual([]));
  test('are known names in every code of the table', () => {
    const codes = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].flatMap((a) => [
      a,
      ...[...'0123456789'].flatMap((n) => [...'ABCEGHJKLMNPRSTVWXYZ'].map((b) => a + n + b)),
    ]);
    const whole = ['96939', '96941', '96942', '96944', '96960'];
    expect(
      [...codes, ...letters, ...whole]
        .flatMap(zipZones)
        .filter((name) => ianaName(name) === undefined),
    ).toEqual([]);
  });
});
