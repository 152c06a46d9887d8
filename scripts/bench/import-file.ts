import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';

/**
 * Writes a CSV file of two columns in random order with 1% duplicates and 1% bad rows, and a file
 * of its valid numbers, each once, as rows of the three columns of the table.
 */
export async function makeFile(rows: number): Promise<{ csv: string; clean: string }> {
  const [csv, clean] = [`.bench/import-${rows}.csv`, `.bench/import-${rows}.clean`];
  if (existsSync(csv) && existsSync(clean)) return { csv, clean };
  process.stderr.write(`making a file of ${rows} numbers ...\n`);
  const outputs = [createWriteStream(csv), createWriteStream(clean)] as const;
  outputs[0].write('phone,name\n');
  let [texts, cleans] = [[] as string[], [] as string[]];
  for (let i = 0; i < rows; i++) {
    // Multiplying i modulo a prime gives each ten-digit number once, in an order that looks random.
    const fresh = 2_000_000_000 + (((i % 100 === 50 ? i - 1 : i) * 2_654_435_761) % 7_999_999_993);
    const number = Math.floor(fresh / 1_000_000) % 10 < 2 ? fresh + 2_000_000 : fresh;
    if (i % 100 === 7) texts.push(`no number ${i},Customer ${i}`);
    else {
      texts.push(`${number},Customer ${i}`);
      if (i % 100 !== 50) cleans.push(`1\t1\t1${number}`);
    }
    if (texts.length === 100_000 || i === rows - 1) {
      for (const [n, lines] of [texts, cleans].entries())
        if (!outputs[n]!.write(`${lines.join('\n')}\n`)) await once(outputs[n]!, 'drain');
      [texts, cleans] = [[], []];
    }
  }
  for (const output of outputs) await new Promise((done) => output.end(done));
  return { csv, clean };
}
