import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALL_STATUSES, MESSAGE_STATUSES } from '../../../src/platform/carriers/carrier';
import { DIALECTS } from '../../../src/platform/carriers/dialects';
import { isSigned, computeSignature } from '../../../src/platform/carriers/signature';
import {
  toCallStatus,
  toFailureCode,
  toMessageStatus,
} from '../../../src/platform/carriers/twilio-words';
import { startTwilio } from '../../support/twilio-server';
import { call, openTwilio, sms } from './requests';

describe('webhooks', () => {
  const [token, url] = ['12345', 'https://mycompany.com/myapp.php?foo=1&bar=2'];
  const params = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  };

  test('Twilio’s own example', () => {
    expect(computeSignature(token, url, params)).toBe('RSOYDt4T1cUTdK1PDd93/VVr8B8=');
    expect(isSigned(token, 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', url, params)).toBe(true);
  });

  test('any other token, URL, parameter or signature is refused', () => {
    const signature = computeSignature(token, url, params);
    expect(isSigned('12346', signature, url, params)).toBe(false);
    expect(isSigned(token, signature, `${url}0`, params)).toBe(false);
    expect(isSigned(token, signature, url, { ...params, Digits: '1235' })).toBe(false);
    expect(isSigned(token, signature, url, { ...params, More: '' })).toBe(false);
    for (const wrong of [
      undefined,
      '',
      signature.slice(1),
      `${signature}=`,
      signature.toLowerCase(),
    ])
      expect(isSigned(token, wrong, url, params)).toBe(false);
    expect(isSigned('', computeSignature('', url, params), url, params)).toBe(false);
  });

  test('repeated keys count once for each value, in order; the port may be there or not', () => {
    expect(computeSignature(token, url, { MediaUrl: ['b', 'a', 'b'] })).toBe(
      computeSignature(token, `${url}MediaUrlaMediaUrlb`, {}),
    );
    const bare = 'https://a.example/x?y=1';
    expect(
      isSigned(token, computeSignature(token, 'https://a.example:443/x?y=1', params), bare, params),
    ).toBe(true);
    expect(
      isSigned(
        token,
        computeSignature(token, bare, params),
        'https://a.example:8443/x?y=1',
        params,
      ),
    ).toBe(true);
    expect(
      isSigned(
        token,
        computeSignature(token, 'https://a.example:8443/x?y=1', params),
        bare,
        params,
      ),
    ).toBe(false);
  });

  test('status callbacks are signed and report how each text and call ended', async () => {
    const server = await startTwilio();
    const received: string[] = [];
    const receiver = createServer((req, res) => {
      let text = '';
      req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      req.once('end', () => {
        const form = Object.fromEntries(new URLSearchParams(text));
        const signed = isSigned(
          server.auth_token,
          req.headers['x-twilio-signature'] as string,
          `http://127.0.0.1:${port}${req.url}`,
          form,
        );
        const status = form.MessageStatus
          ? toMessageStatus(form.MessageStatus)
          : toCallStatus(form.CallStatus!);
        received.push(
          `${req.url} ${status} ${form.ErrorCode ? toFailureCode(form.ErrorCode, DIALECTS.twilio) : '-'} ${signed}`,
        );
        res.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const { port } = receiver.address() as AddressInfo;
    const carrier = openTwilio(server, { public_url: `http://127.0.0.1:${port}` });
    await carrier.sendSms(sms({ key: 'k1', to: '+13105550107' }));
    await carrier.placeCall(call({ key: 'k2', to: '+13105550106' }));
    expect(await server.settle()).toEqual([204, 204]);
    expect(received).toEqual([
      '/api/v1/telephony/message_status?key=k1 undelivered unreachable true',
      '/api/v1/telephony/call_status?key=k2 no_answer - true',
    ]);
    await new Promise((done) => receiver.close(done));
    await server.close();
  });

  test('every status has a word of ours, none is made up', () => {
    const messages = (
      'accepted scheduled queued sending sent ' + 'delivered undelivered failed receiving received'
    ).split(' ');
    const calls =
      'queued initiated ringing in-progress completed busy no-answer canceled failed'.split(' ');
    for (const status of messages) expect(MESSAGE_STATUSES).toContain(toMessageStatus(status));
    for (const status of calls) expect(CALL_STATUSES).toContain(toCallStatus(status));
    expect([toMessageStatus('toString'), toCallStatus('exploded')]).toEqual([undefined, undefined]);
  });
});
