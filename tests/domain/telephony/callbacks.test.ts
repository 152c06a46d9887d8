import { CALLER, on, setUp, time, world } from '../../support/carrier-calls';
import { ownNumber } from '../../support/leads';
import type { Bought } from '../../support/switchboard';
import { readTwiml } from '../../support/twiml-caller';

setUp();

describe('reports of a carrier', () => {
  const scripts = (firstBuyer: Bought, secondBuyer: Bought) =>
    ({
      [firstBuyer.number]: { does: 'answer', key: '2' },
      [secondBuyer.number]: { does: 'answer', key: '1', talks: 30 },
    }) as const;
  const shop = async () => {
    const [firstBuyer, secondBuyer] = [
      await on.buyer({ tier: 1, press_one_to_accept: true }),
      await on.buyer({ tier: 2 }),
    ];
    await on.offer([firstBuyer, secondBuyer], { greeting_message: 'Welcome.' });
    return [firstBuyer, secondBuyer] as const;
  };
  const right = [
    [1, 0, 0, 0],
    [1, 1, 1, 0],
  ];

  test('twice counts once', async () => {
    const [firstBuyer, secondBuyer] = await shop();
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: scripts(firstBuyer, secondBuyer),
      twice: true,
    });
    expect([played.connected, await on.attempts(played)]).toEqual([
      secondBuyer.number,
      ['declined', 'completed'],
    ]);
    expect([await on.counts(firstBuyer), await on.counts(secondBuyer)]).toEqual(right);
  });

  test('about legs after the end, in the wrong order, changes nothing', async () => {
    const [firstBuyer, secondBuyer] = await shop();
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: scripts(firstBuyer, secondBuyer),
      late: true,
    });
    expect([played.connected, await on.attempts(played)]).toEqual([
      secondBuyer.number,
      ['declined', 'completed'],
    ]);
    expect([
      await on.counts(firstBuyer),
      await on.counts(secondBuyer),
      (await on.loadCall(played)).answered_duration,
    ]).toEqual([...right, 30]);
  });

  test('all over again, an hour later and backwards, changes nothing', async () => {
    const [firstBuyer, secondBuyer] = await shop();
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: scripts(firstBuyer, secondBuyer),
    });
    const before = await on.loadCall(played);
    time.set('2026-06-01T13:40:00Z');
    for (const { url, params } of played.posts.toReversed()) await on.twiml(url, params);
    expect(await on.loadCall(played)).toEqual(before);
    expect([await on.counts(firstBuyer), await on.counts(secondBuyer), await on.slots()]).toEqual([
      ...right,
      0,
    ]);
  });

  test('ten times at the same time count once', async () => {
    const [firstBuyer, secondBuyer] = [await on.buyer({ tier: 1 }), await on.buyer({ tier: 2 })];
    await on.offer([firstBuyer, secondBuyer]);
    const ten = async (url: string, params: Record<string, string>) => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => on.twiml(url, params)));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      return answers[0]!;
    };
    const [first] = (
      await ten(on.hook('voice'), { CallSid: 'CA-ten', From: CALLER, To: on.companyNumber })
    ).children;
    const [second] = (
      await ten(first!.attributes.action!, {
        DialCallStatus: 'no-answer',
        CallStatus: 'in-progress',
      })
    ).children;
    expect(second!.children[0]!.text).toBe(secondBuyer.number);
    const end = await ten(second!.attributes.action!, {
      DialCallStatus: 'completed',
      DialCallDuration: '7',
      CallStatus: 'in-progress',
    });
    expect(end.children.map(({ name }) => name)).toEqual(['Hangup']);
    expect([await on.counts(firstBuyer), await on.counts(secondBuyer), await on.slots()]).toEqual([
      ...right,
      0,
    ]);
  });

  test('the leg identifies the buyer that took the call if no answer was reported', async () => {
    const members = [await on.buyer(), await on.buyer()];
    await on.atOnce(members);
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: 'CA-leg', From: CALLER, To: on.companyNumber })
    ).children;
    for (const [n, noun] of dial!.children.entries())
      await on.twiml(noun.attributes.statusCallback!, {
        CallSid: `leg-${n}`,
        CallStatus: 'ringing',
      });
    await on.twiml(dial!.attributes.action!, {
      DialCallStatus: 'completed',
      DialCallSid: 'leg-1',
      DialCallDuration: '42',
      CallStatus: 'completed',
    });
    const winner = members.find(({ number }) => number === dial!.children[1]!.text)!;
    expect(await on.loadCall({ sid: 'CA-leg' })).toMatchObject({
      status: 'completed',
      buyer_id: String(winner.id),
      answered_duration: 42,
    });
    expect([await on.counts(winner), await on.slots()]).toEqual([[1, 1, 1, 0], 0]);
  });

  test('a round that was taken without a reported answer ends the call', async () => {
    const members = [await on.buyer(), await on.buyer()];
    await on.atOnce(members);
    const script = { does: 'answer', talks: 30 } as const;
    const played = await on.placeCall({
      to: on.companyNumber,
      buyers: { [members[0]!.number]: script, [members[1]!.number]: { ...script, after: 9 } },
      late: true,
    });
    expect([played.rung.length, await on.attempts(played), await on.slots()]).toEqual([
      1,
      ['canceled', 'canceled'],
      0,
    ]);
  });

  test('completed names no buyer if one rings and one answered unconnected', async () => {
    const members = [await on.buyer({ press_one_to_accept: true }), await on.buyer()];
    await on.atOnce(members);
    const [dial] = (
      await on.twiml(on.hook('voice'), {
        CallSid: 'CA-screened',
        From: CALLER,
        To: on.companyNumber,
      })
    ).children;
    const screened = dial!.children.find(({ text }) => text === members[0]!.number)!;
    await on.twiml(screened.attributes.statusCallback!, {
      CallSid: 'leg-0',
      CallStatus: 'ringing',
    });
    await on.twiml(screened.attributes.url!, { CallSid: 'leg-0' });
    await on.twiml(dial!.attributes.action!, {
      DialCallStatus: 'completed',
      DialCallSid: 'leg-0',
      CallStatus: 'in-progress',
    });
    expect((await on.attempts({ sid: 'CA-screened' })).sort()).toEqual(['declined', 'no_answer']);
    expect([await on.counts(members[0]!), await on.counts(members[1]!)]).toEqual([
      [1, 0, 0, 0],
      [1, 0, 0, 0],
    ]);
  });

  test('a buyer who hangs up instead of pressing a key declines', async () => {
    const members = [await on.buyer({ press_one_to_accept: true }), await on.buyer()];
    await on.atOnce(members);
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: 'CA-hung', From: CALLER, To: on.companyNumber })
    ).children;
    const numberElement = dial!.children.find(({ text }) => text === members[0]!.number)!;
    await on.twiml(numberElement.attributes.url!, {});
    await on.twiml(numberElement.attributes.statusCallback!, {
      CallStatus: 'completed',
      CallDuration: '3',
    });
    expect([(await on.attempts({ sid: 'CA-hung' })).sort(), await on.counts(members[0]!)]).toEqual([
      ['declined', 'ringing'],
      [1, 0, 0, 0],
    ]);
    await on.twiml(dial!.attributes.action!, { DialCallStatus: 'busy', CallStatus: 'in-progress' });
    expect([(await on.attempts({ sid: 'CA-hung' })).sort(), await on.slots()]).toEqual([
      ['busy', 'declined'],
      0,
    ]);
  });

  test('a key for a call that another buyer has taken hangs up', async () => {
    const members = [
      await on.buyer({ press_one_to_accept: true }),
      await on.buyer({ press_one_to_accept: true }),
    ];
    await on.atOnce(members);
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: 'CA-key', From: CALLER, To: on.companyNumber })
    ).children;
    const keys = [];
    for (const noun of dial!.children)
      keys.push((await on.twiml(noun.attributes.url!, {})).children[0]!.attributes.action!);
    const answers = await Promise.all(keys.map((url) => on.twiml(url, { Digits: '1' })));
    expect(answers.map(({ children }) => children.map(({ name }) => name).join()).sort()).toEqual([
      '',
      'Hangup',
    ]);
    const late = await on.twiml(
      dial!.children[answers[0]!.children.length === 0 ? 1 : 0]!.attributes.url!,
      {},
    );
    expect(late.children.map(({ name }) => name)).toEqual(['Hangup']);
  });

  test('is rejected without its signature, for another URL, or an unknown call', async () => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: 'CA-signed', From: CALLER, To: on.companyNumber })
    ).children;
    const urls = [
      on.hook('voice'),
      dial!.attributes.action!,
      dial!.children[0]!.attributes.statusCallback!,
    ];
    for (const url of urls)
      expect(
        (
          await on.post(
            url,
            {
              CallSid: 'CA-x',
              To: on.companyNumber,
              DialCallStatus: 'completed',
              CallStatus: 'completed',
            },
            'another token',
          )
        ).status,
      ).toBe(401);
    expect((await on.loadCall({ sid: 'CA-signed' })).status).toBe('ringing');
    const { uuid } = await on.loadCall({ sid: 'CA-signed' });
    const unknownUrl = dial!.attributes.action!.replace(
      uuid,
      '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001',
    );
    expect((await on.post(unknownUrl, { DialCallStatus: 'completed' })).status).toBe(404);
    expect(
      (
        await on.post(dial!.attributes.action!.replace(on.companyNumber.slice(1), '13105559999'), {
          DialCallStatus: 'completed',
        })
      ).status,
    ).toBe(404);
    const attempt = dial!.children[0]!.attributes.statusCallback!.replace(
      /attempt=[^&]+/,
      'attempt=019a9e6c-3f0e-7c52-9a51-5f2b60a3c001',
    );
    expect((await on.post(attempt, { CallStatus: 'ringing' })).body.errors).toEqual({
      attempt: [expect.any(String)],
    });
  });

  test('for a call of another company is rejected as unknown', async () => {
    const buyer = await on.buyer();
    await on.offer([buyer]);
    const [dial] = (
      await on.twiml(on.hook('voice'), { CallSid: 'CA-own', From: CALLER, To: on.companyNumber })
    ).children;
    const theirs = await world.addCompany();
    await ownNumber(world, theirs, '12127779999');
    const url = dial!.attributes.action!.replace(on.companyNumber.slice(1), '12127779999');
    expect((await on.post(url, { DialCallStatus: 'completed' })).status).toBe(404);
    expect((await on.loadCall({ sid: 'CA-own' })).status).toBe('ringing');
  });

  test('configured texts are escaped in TwiML', async () => {
    const buyer = await on.buyer({ name: '<Say>"&' });
    await on.offer([buyer], { greeting_message: '</Say><Hangup/><Say>"&\u2028🙂' });
    const res = await on.post(on.hook('voice'), {
      CallSid: 'CA-xml',
      From: CALLER,
      To: on.companyNumber,
    });
    expect([res.status, res.headers['content-type']]).toEqual([
      200,
      expect.stringMatching(/^text\/xml/),
    ]);
    const { children } = readTwiml(res.text);
    expect(children.map(({ name }) => name)).toEqual(['Say', 'Dial']);
    expect(children[0]!.text).toBe('</Say><Hangup/><Say>"&\u2028🙂');
  });
});
