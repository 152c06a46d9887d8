import type { Call } from './calls';
import type { Edges } from './edges';

/** Where the caller's channel has the last key press that was played: it outlives this process. */
const PLAYED_VARIABLE = 'trunkline_played';
/** FreeSWITCH's word for a variable that is not set. */
const UNDEFINED = '_undef_';

export async function readVariable(
  name: string,
  channel: string,
  { socket }: Pick<Edges, 'socket'>,
): Promise<string | undefined> {
  const value = await socket.api(`uuid_getvar ${channel} ${name}`);
  return value === UNDEFINED || value === '' ? undefined : value;
}

/** Keys are played one after the other: of two requests for them, neither knows of the other. */
export function playInTurn<T>(call: Call, work: () => Promise<T>): Promise<T> {
  const run = call.keys.then(work);
  call.keys = run.catch(() => undefined);
  return run;
}

export const readPlayed = async ({ channel }: Call, on: Edges): Promise<number> =>
  Number((await readVariable(PLAYED_VARIABLE, channel, on)) ?? 0);

/** Before they are played: rather not than twice. */
export const keepPlayed = ({ channel }: Call, id: number, { socket }: Edges): Promise<string> =>
  socket.api(`uuid_setvar ${channel} ${PLAYED_VARIABLE} ${id}`);
