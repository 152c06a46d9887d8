import type { ConsoleContract, NounContract } from '../noun-contract';

/** The server names the file in the page, by its content. */
export async function loadContract(): Promise<ConsoleContract> {
  const link = document.querySelector<HTMLLinkElement>('link[rel=preload][as=fetch]');
  const res = await fetch(link!.href);
  if (!res.ok) throw new Error('The console could not load the description of the API.');
  return (await res.json()) as ConsoleContract;
}

/** A noun of the contract; the names in layouts are held against it by a test. */
export function findNoun({ nouns }: ConsoleContract, name: string): NounContract {
  const noun = nouns[name];
  if (!noun) throw new Error(`The API has no ${name}.`);
  return noun;
}
