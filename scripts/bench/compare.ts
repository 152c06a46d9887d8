import { writeFileSync } from 'node:fs';
import { COMPARABLE, isComparable, readLines, type Line } from './lines';
import { nodeFolder } from './node-binary';
import { readOptions, runBench, type Options, type SourceTree } from './runs';
import { median, option, round, say } from './tools';
import { build, openTree } from './trees';

// Compares two commits, or two versions of Node, on one machine: each bench runs on both in turns.
// A figure is slower when its median and nearly every turn are slower.

const TURNS = Math.max(3, Number(option('turns', '3')));
const TOLERANCE = Number(option('tolerance', '15')) / 100;
/** One deviating turn is noise, which is allowed from five turns on. */
const SLOWER_TURNS = Math.ceil(TURNS * 0.8);
const DEFAULT_BENCHES = 'requests,decisions,events';
/** Short runs, because there are several turns. */
const DEFAULTS: Options = {
  seconds: '2',
  rounds: '1',
  sizes: '10000',
  listed: '50000',
  'calls-a-turn': '500',
};
const OWN_OPTIONS = ['compare', 'node', 'turns', 'tolerance', 'only'];

interface LineComparison {
  line: string;
  unit: string;
  before: number;
  after: number;
  /** Speed after, divided by speed before, by the medians. */
  ratio: number;
  /** The ratio of each turn. */
  turns: number[];
  is_slower: boolean;
}

function benches(): string[] {
  const names = option('only', DEFAULT_BENCHES).split(',');
  const unknown = names.filter((name) => !isComparable(name));
  if (unknown.length > 0)
    throw new Error(`--only ${unknown.join(',')}: can compare ${COMPARABLE.join(', ')}`);
  return names;
}

/** Runs a bench on both sides in turns; the side that starts alternates. */
async function race(
  sides: readonly [SourceTree, SourceTree],
  bench: string,
): Promise<LineComparison[]> {
  const options = readOptions(DEFAULTS, OWN_OPTIONS);
  const runs = new Map<SourceTree, Line[][]>(sides.map((side) => [side, []]));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      process.stderr.write(`${bench}, turn ${turn + 1} of ${TURNS}: ${side.name} ...\n`);
      await runBench(side, bench, { options, show: false });
      runs.get(side)!.push(readLines(bench, side.folder));
    }
  }
  const [before, after] = sides.map((side) => runs.get(side)!);
  return before![0]!.map(({ line }) => compareLine(line, before!, after!));
}

export function compareLine(name: string, before: Line[][], after: Line[][]): LineComparison {
  const listValues = (runs: Line[][]) =>
    runs.map((lines) => lines.find(({ line }) => line === name)!.value);
  const { unit, better } = before[0]!.find(({ line }) => line === name)!;
  const speed = (old: number, now: number) => round(better === 'higher' ? now / old : old / now);
  const [old, now] = [listValues(before), listValues(after)];
  const ratio = speed(median(old), median(now));
  const turns = old.map((value, turn) => speed(value, now[turn]!));
  const isSlower =
    ratio < 1 - TOLERANCE && turns.filter((turnRatio) => turnRatio < 1).length >= SLOWER_TURNS;
  return {
    line: name,
    unit,
    before: median(old),
    after: median(now),
    ratio,
    turns,
    is_slower: isSlower,
  };
}

function print({ line, unit, before, after, ratio, turns, is_slower }: LineComparison): void {
  const value = (n: number) => `${round(n, 2)}${unit}`.padStart(12);
  say(
    `${line.padEnd(62)} ${value(before)} ${value(after)}  ${ratio.toFixed(2)} x  ` +
      `(${turns.map((turn) => turn.toFixed(2)).join(', ')})${is_slower ? '  SLOWER' : ''}`,
  );
}

async function compare(sides: readonly [SourceTree, SourceTree]): Promise<LineComparison[]> {
  const all: LineComparison[] = [];
  for (const bench of benches()) all.push(...(await race(sides, bench)));
  say(`${sides[0].name}, then ${sides[1].name}: medians of ${TURNS} turns, and how many times as `);
  say('fast the second is, by the medians and in each turn');
  for (const line of all) print(line);
  writeFileSync(
    '.bench/compare.json',
    JSON.stringify({ sides: sides.map(({ name }) => name), turns: TURNS, lines: all }, null, 2),
  );
  return all;
}

/** Compares this tree with a commit; returns the exit code 1 when something is slower. */
export async function compareCommits(rev: string): Promise<number> {
  benches();
  build('.');
  const before = openTree(rev);
  try {
    const lines = await compare([before, { name: 'this tree', folder: '.' }]);
    const slower = lines.filter(({ is_slower }) => is_slower);
    for (const { line, ratio } of slower) say(`slower than ${rev}: ${line}, ${ratio} x`);
    if (slower.length === 0) say(`nothing is slower than ${rev} by ${TOLERANCE * 100}%`);
    return slower.length > 0 ? 1 : 0;
  } finally {
    before.remove();
  }
}

export async function compareNodes(requestedVersion: string): Promise<number> {
  benches();
  build('.');
  const { folder, version } = nodeFolder(requestedVersion);
  await compare([
    { name: `Node ${process.version}`, folder: '.' },
    { name: `Node ${version}`, folder: '.', node_folder: folder },
  ]);
  return 0;
}
