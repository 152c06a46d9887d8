import fc from 'fast-check';
import { DIALECTS } from '../../../src/platform/carriers/dialects';
import {
  DIALECT_NAMES,
  type DialectName,
  type SignedRequest,
} from '../../../src/platform/carriers/dialects/dialect';
import { MODELS, type CarrierKeys } from '../../support/carrier-models';

// The requests of each carrier, signed by a model of it.

const NOW = new Date('2026-06-01T12:00:00Z');
const secondsAgo = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

interface Form {
  url: string;
  params: Record<string, string>;
}
const texts = fc.string({ unit: 'grapheme', maxLength: 30 });
const forms: fc.Arbitrary<Form> = fc.record({
  url: fc.webUrl({ withQueryParameters: true, validSchemes: ['https'] }),
  params: fc.dictionary(fc.stringMatching(/^[A-Za-z]{1,12}$/), texts, { minKeys: 1, maxKeys: 6 }),
});

const encode = (params: Record<string, string>) => new URLSearchParams(params).toString();
const signForm = (name: DialectName, { url, params }: Form, keys: CarrierKeys, at = NOW) =>
  MODELS[name].sign({ url, params, text: encode(params), at }, keys);
const buildRequest = ({ url, params }: Form, headers: Record<string, string>): SignedRequest => ({
  url,
  form: params,
  form_text: encode(params),
  received_at: NOW,
  getHeader: (header) => headers[header],
});

describe.each(DIALECT_NAMES)('a request of %s', (name) => {
  const dialect = DIALECTS[name];
  const keys = MODELS[name].createKeys('the token');
  const others = MODELS[name].createKeys('another token');
  const accepts = (form: Form, headers: Record<string, string>, key = keys.signing_key) =>
    dialect.isSigned(buildRequest(form, headers), key);

  test('is accepted as it was signed', () => {
    fc.assert(fc.property(forms, (form) => accepts(form, signForm(name, form, keys))));
  });

  test('is refused without a header, by another key, and with another signature', () => {
    fc.assert(
      fc.property(forms, (form) => {
        const headers = signForm(name, form, keys);
        for (const header of Object.keys(headers)) {
          expect(accepts(form, { ...headers, [header]: '' })).toBe(false);
          expect(accepts(form, { ...headers, [header]: 'x'.repeat(28) })).toBe(false);
          const rest = Object.entries(headers).filter(([key]) => key !== header);
          expect(accepts(form, Object.fromEntries(rest))).toBe(false);
        }
        expect(accepts(form, signForm(name, form, others))).toBe(false);
        expect(accepts(form, headers, others.signing_key)).toBe(false);
        expect(accepts(form, headers, '')).toBe(false);
      }),
    );
  });

  test('is refused with a parameter changed, added or left out', () => {
    fc.assert(
      fc.property(forms, texts, (form, text) => {
        const headers = signForm(name, form, keys);
        const [first] = Object.keys(form.params);
        const { [first!]: value, ...rest } = form.params;
        const changes = [
          { ...form.params, [first!]: `${value}${text}x` },
          { ...form.params, zAdded: text },
          rest,
        ];
        for (const params of changes) expect(accepts({ ...form, params }, headers)).toBe(false);
      }),
    );
  });

  test('is refused at another URL, where the signature covers it', () => {
    fc.assert(
      fc.property(forms, (form) => {
        const headers = signForm(name, form, keys);
        const isAccepted = accepts({ ...form, url: `${form.url}0` }, headers);
        expect(isAccepted).toBe(name === 'telnyx');
      }),
    );
  });

  test('is refused with the header of another dialect, which the same key has made', () => {
    const allKeys = { ...MODELS.telnyx.createKeys(''), ...keys };
    fc.assert(
      fc.property(forms, fc.constantFrom(...DIALECT_NAMES), (form, otherName) => {
        const headers = signForm(otherName, form, allKeys);
        const isRead = Object.keys(headers).some((header) =>
          dialect.signature_headers.includes(header),
        );
        expect(accepts(form, headers)).toBe(isRead);
      }),
    );
  });
});

describe('Telnyx', () => {
  const keys = MODELS.telnyx.createKeys('');
  const form = { url: 'https://a.example/x', params: { CallSid: 'v3:a', To: '+12125550100' } };
  const isSignedAt = (at: Date) =>
    DIALECTS.telnyx.isSigned(
      buildRequest(form, signForm('telnyx', form, keys, at)),
      keys.signing_key,
    );

  test.each([
    [0, true],
    [300, true],
    [301, false],
    [-300, true],
    [-301, false],
    [86_400, false],
  ])('signed %d seconds ago: %s', (seconds, isAccepted) => {
    expect(isSignedAt(secondsAgo(seconds))).toBe(isAccepted);
  });

  test('its time is part of what is signed', () => {
    const headers = signForm('telnyx', form, keys, secondsAgo(400));
    headers['telnyx-timestamp'] = String(NOW.getTime() / 1000);
    expect(DIALECTS.telnyx.isSigned(buildRequest(form, headers), keys.signing_key)).toBe(false);
  });

  test.each(['', 'a key', 'AAAA', 'A'.repeat(100)])('%j is no key', (key) => {
    const headers = signForm('telnyx', form, keys);
    expect(DIALECTS.telnyx.isSigned(buildRequest(form, headers), key)).toBe(false);
    expect(DIALECTS.telnyx.findKeyFault!(key)).toContain('32 bytes');
  });

  test('a body that is no form is not signed', () => {
    const request = buildRequest(form, signForm('telnyx', form, keys));
    const isSigned = DIALECTS.telnyx.isSigned(
      { ...request, form_text: undefined },
      keys.signing_key,
    );
    expect(isSigned).toBe(false);
    expect(DIALECTS.telnyx.findKeyFault!(keys.signing_key)).toBeUndefined();
  });
});
