import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../../../src/main/conformance/run';
import { CHECKLIST, SCENARIOS } from '../../../src/main/conformance/scenarios';
import { ADAPTER, buildUrl, openConformance, playNamed } from '../../support/conformance';
import { useWorld } from '../../support/use-world';
import { ModelAdapter, TELEPHONES, type Flaw } from './model-adapter';

// The conformance client finds nothing wrong with a good adapter, and the flaw of each other one.

const world = useWorld({ environment: { CARRIER: 'switch' } });

interface Options {
  flaw?: Flaw | undefined;
  only?: readonly string[] | undefined;
  /** Seconds for what an adapter does at once, and for its sync. */
  patience?: number;
  /** Its telephones are not named. */
  is_bare?: boolean;
}

/** A busy machine is no flaw. */
const PATIENT = { talk_seconds: 1, max_difference_seconds: 60, settle_seconds: 1 };

/** Plays scenarios to an adapter with this flaw. */
async function play({ flaw, only, patience = 60, is_bare = false }: Options): Promise<Verdict[]> {
  const stage = await openConformance(world.deps, {
    ...(is_bare ? { answers: TELEPHONES.answers } : TELEPHONES),
    ...{ places_calls: !is_bare, ...PATIENT },
    patience: { prompt: patience, sync: patience },
    placeCall: (plan) => adapter.placeCall(plan),
  });
  const adapter = new ModelAdapter({ url: buildUrl(stage).href, ...ADAPTER }, flaw);
  if (!is_bare) stage.restart = () => adapter.restart();
  try {
    return await playNamed(stage, only);
  } finally {
    await adapter.stop();
    await stage.close();
  }
}

test('a good adapter passes each scenario', async () => {
  const verdicts = await play({});
  expect(verdicts.map(({ name, result, reason }) => ({ name, result, reason }))).toEqual(
    SCENARIOS.map(({ name }) => ({ name, result: 'ok', reason: undefined })),
  );
});

test('the scenarios are about each item of the checklist of the documentation', () => {
  expect(new Set(SCENARIOS.map(({ item }) => item))).toEqual(new Set(Object.keys(CHECKLIST)));
  const page = readFileSync(join(__dirname, '../../../docs/switches.md'), 'utf8');
  const [, list = ''] = page.split('An adapter is complete if it\n\n');
  const items = list.split('\n\n')[0]!.trim().replaceAll(/\n +/g, ' ').split('\n');
  const normalized = items.map((line) => line.replace(/^- /, '').replace(/[;.]$/, ''));
  expect(normalized).toEqual(Object.values(CHECKLIST));
});

test('an item that cannot be tried is not taken for granted', async () => {
  const only = SCENARIOS.filter(({ item }) => item === 'legs' || item === 'originate');
  const verdicts = await play({ is_bare: true, only: only.map(({ name }) => name) });
  expect(new Set(verdicts.map(({ result }) => result))).toEqual(new Set(['not_seen']));
});

/** Seconds that an adapter is waited for which does not do what is due. */
const SHORT = 4;

interface Expected {
  in: string;
  /** Absent where only time shows it: then a busy machine may find another reason. */
  reason?: string;
}

const FLAWS: Record<Flaw, Expected> = {
  'calls before its sync': {
    in: 'the first sync comes before the first call',
    reason: 'before the first sync',
  },
  'another call_sid': {
    in: 'a call whose beginning got no answer is one call',
    reason: 'repeated with another call_sid',
  },
  'no attempt': { in: 'a buyer that is busy is followed by the next' },
  'no code': {
    in: 'a buyer that is busy is followed by the next',
    reason: 'neither sip_code nor q850',
  },
  'answers all callers': {
    in: 'a caller is refused with the status of SIP',
    reason: 'not refused with 486',
  },
  'lets others ring': { in: 'of two buyers that ring, one has the call', reason: 'still rang' },
  'no trunk': {
    in: 'a trunk that fails is followed by the next',
    reason: 'does not name the trunk',
  },
  'reports once': { in: 'an answer that got no answer is reported again' },
  'no duration': { in: 'an end is reported when the service is back', reason: 'has no duration' },
  'forgets reports': { in: 'an end is reported by the next process' },
  'no import': { in: 'calls go elsewhere while the service is away' },
  'ignores commands': { in: 'keys are played to the buyer' },
  'syncs without calls': { in: 'a call that is in syncs is hung up by a command' },
  'ignores ended calls': { in: 'a call that has ended at the service is hung up' },
  'one boot_id': { in: 'a restart frees the slots of calls that are gone' },
  'calls twice': { in: 'a person is called once', reason: 'twice' },
  'unknown fields': {
    in: 'a call is answered, and ends with its caller',
    reason: 'reason":["is not a field',
  },
};

describe('an adapter with a flaw fails:', () => {
  const playing = new Map<string, Promise<Verdict[]>>();
  // All wait for most of their time.
  beforeAll(() => {
    for (const [flaw, { in: name, reason }] of Object.entries(FLAWS))
      playing.set(
        flaw,
        play({ flaw: flaw as Flaw, only: [name], ...(!reason && { patience: SHORT }) }),
      );
  });
  afterAll(() => Promise.allSettled(playing.values()));
  test.each(Object.entries(FLAWS))('%s', async (flaw, { in: name, reason = '' }) => {
    const [verdict] = await playing.get(flaw)!;
    const expected = { name, result: 'failed', reason: expect.stringContaining(reason) as string };
    expect(verdict).toMatchObject(expected);
  });
});
