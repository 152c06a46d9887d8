import fc from 'fast-check';
import { findTemplateUrlFault } from '../../../src/platform/egress/refused-templates';
import { fillTemplate } from '../../../src/platform/egress/request-template';
import { escapeHtml, ownTokens, substitute } from '../../../src/platform/tokens/substitute';
import {
  listReceived,
  newPath,
  queueWebhook,
  type Received,
  run,
  setUp,
  world,
} from '../../support/action-webhooks';
import { EMAIL, loadSent, openShop, runEngine, SMS, submit } from '../../support/leads';

// [first_name] is replaced as {{first_name}} is, in every text that has tokens.

setUp();

const BRACED = 'Hi {{first_name}}, {{last_name}}/{{geo_state}}: {{first_name}}{{zip}} ({{sub_id}})';
const BRACKETED = BRACED.replace(/\{\{(\w+)\}\}/g, '[$1]');
const PERSON = { first_name: `A'b & <c> "d"`, zip: '10001' };
const WORD = ' [word] [7]';

/** Both spellings of a text, for a person with a first name and a ZIP only. */
const spellings = [BRACED, BRACKETED].map((text) => text + WORD);

describe.each<[string, 'text_messages' | 'emails', object[]]>([
  ['texts', 'text_messages', spellings.map((body) => ({ ...SMS, body }))],
  ['plain mails', 'emails', spellings.map((body) => ({ ...EMAIL, body, subject: body }))],
  [
    'mails of HTML',
    'emails',
    spellings.map((text) => ({ ...EMAIL, body: `<p>${text}</p>`, subject: text })),
  ],
])('in %s', (_name, table, actions) => {
  test('both spellings say the same', async () => {
    const { schedule } = await openShop(world, actions as never, {
      daylight_hours: '00:00..23:59',
    });
    const { body } = await submit(world, schedule.lead_token, {
      email: 'ann@example.com',
      ...PERSON,
    });
    await runEngine(world);
    const [braced, bracketed] = await loadSent(world, table, body.id);
    expect([bracketed!.body, bracketed!.subject]).toEqual([braced!.body, braced!.subject]);
    expect(braced!.body).toContain('/NY: ');
    expect(braced!.body).toContain(WORD);
    expect(bracketed!.body).not.toMatch(/\[(?!word|7)/);
  });
});

const TYPES = [
  ...['application/json', 'text/plain', 'text/xml', 'application/soap+xml; charset=utf-8'],
  'application/x-www-form-urlencoded',
];
test.each(TYPES)('a webhook of %s is the same in both spellings', async (type) => {
  const request = async (token: string) => {
    const path = newPath();
    const action = {
      headers: { 'Content-Type': type, 'X-Name': token },
      body: `a ${token} [word] lead[first_name]=${token}`,
    };
    await run(await queueWebhook(`${path}?n=${token}&lead[zip]=[zip]`, action, PERSON));
    const [{ body, headers, path: url }] = listReceived(path) as [Received];
    return { body, name: headers['x-name'], url: decodeURIComponent(url.replace(path, '')) };
  };
  const braced = await request('{{first_name}}');
  expect(await request('[first_name]')).toEqual(braced);
  expect(braced.url).toBe(`?n=${PERSON.first_name}&lead[zip]=10001`);
  expect(braced.body).toContain('[word] lead[first_name]=');
  if (/xml/.test(type)) expect(braced.body).toContain('A&#39;b &amp; &lt;c&gt; &quot;d&quot;');
});

test.each(['https://[host].example.com/x', 'https://x.example.com:[port]/', 'http://[a]/'])(
  'the host of %s must not be a token',
  (url) => expect(findTemplateUrlFault(url, [])).toMatch(/^must /),
);
test.each(['https://x.example.com/[a]?b=[c]', 'https://x.example.com/?lead[a]=[a]'])(
  'that of %s is none',
  (url) => expect(findTemplateUrlFault(url, [])).toBeUndefined(),
);

describe('for any text and value', () => {
  const name = fc.constantFrom('first_name', 'zip', 'gone', 'blank');
  const part = fc.oneof(
    name.map((word) => `{{${word}}}`),
    fc.constantFrom(' ', 'x ', '"', ', '),
  );
  const escapes = [undefined, escapeHtml, encodeURIComponent];

  test('the spelling makes no difference where the token exists', () => {
    fc.assert(
      fc.property(
        fc.array(part),
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(...escapes),
        (parts, value, escape) => {
          const tokens = ownTokens({ first_name: value, zip: '1', gone: null, blank: ' ' });
          const [text, other] = [parts.join(''), parts.join('').replace(/\{\{(\w+)\}\}/g, '[$1]')];
          expect(substitute(other, tokens, escape)).toBe(substitute(text, tokens, escape));
        },
      ),
    );
  });

  const fill = (body: string, value: string): string =>
    fillTemplate(
      { url: 'https://x.example/', method: 'POST', headers: { 'content-type': 'text/xml' }, body },
      ownTokens({ a: value }),
      '',
    ).body as string;
  const UNESCAPED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  const unescapeXml = (text: string) =>
    text.replace(/&([^;]*);/g, (_, entity) => UNESCAPED[entity]!);
  const value = fc.oneof(
    fc.string({ unit: 'grapheme-composite' }),
    fc.array(fc.constantFrom(']', '>', ']]>', '<', '&', '"', 'x')).map((parts) => parts.join('')),
  );

  test('XML has a value as text and in an attribute, and no markup of it', () => {
    fc.assert(
      fc.property(value, (text) => {
        const [, attribute, content] = /^<r n="([^"<>]*)">([^<>]*)<\/r>$/.exec(
          fill('<r n="[a]">{{a}}</r>', text),
        )!;
        const expected = text.trim() === '' ? '' : text;
        expect([unescapeXml(attribute!), unescapeXml(content!)]).toEqual([expected, expected]);
      }),
    );
  });

  test('XML has a value in a CDATA section, which it cannot end', () => {
    fc.assert(
      fc.property(value, (text) => {
        const body = fill('<r><![CDATA[{{a}}[a]]]></r>', text);
        const inner = body.slice('<r><![CDATA['.length, -']]></r>'.length);
        expect(inner.replaceAll(']]]]><![CDATA[>', '')).not.toContain(']]>');
        expect(inner.replaceAll(']]]]><![CDATA[>', ']]>')).toBe(
          text.trim() === '' ? '' : text + text,
        );
      }),
    );
  });

  test('XML has no character that it must not have', () =>
    expect(fill('<r>[a]</r>', 'a\0b\x1bc\td\n')).toBe('<r>a\ufffdb\ufffdc\td\n</r>'));
});
