import { createWriteStream, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { extract, pack, type Header } from 'tar-stream';

/** An entry of an archive. */
export interface Item {
  name: string;
  content: string | Buffer;
  header?: Partial<Header>;
}

export async function readItems(file: string): Promise<Item[]> {
  const entries = extract();
  entries.end(gunzipSync(readFileSync(file)));
  const items: Item[] = [];
  for await (const entry of entries)
    items.push({ name: entry.header.name, content: await text(entry as never) });
  return items;
}

/** Writes an archive without the code of the product, so that it may contain anything. */
export async function writeItems(file: string, items: readonly Item[]): Promise<void> {
  const packed = pack();
  const finished = pipeline(packed, createGzip(), createWriteStream(file));
  for (const { name, content, header } of items)
    await new Promise<void>((done, fail) => {
      const entryHeader = { name, ...header };
      const end = (error?: Error | null) => (error ? fail(error) : done());
      if (header?.type) packed.entry(entryHeader, end);
      else packed.entry(entryHeader, content as string, end);
    });
  packed.finalize();
  await finished;
}
