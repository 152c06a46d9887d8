import { format } from 'prettier';
import { AUDIO, BASE_URL, buildTarget, type SampleRequest } from './request';

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const CREDENTIALS = {
  key_pair: ['-u public_key:private_key'],
  user_token: [`-H 'Authorization: Token USER_TOKEN'`],
  endpoint_token: [`-H 'Authorization: Token ENDPOINT_TOKEN'`],
  none: [],
};

async function bodyOptions({ body, file, audio }: SampleRequest): Promise<string[]> {
  if (audio) return [`-H 'Content-Type: audio/wav'`, `--data-binary @${audio}`];
  if (file)
    return [
      ...Object.entries(body as object).map(([name, value]) => `-F ${quote(`${name}=${value}`)}`),
      `-F ${quote(`${file.field}=@${file.name}`)}`,
    ];
  if (body === undefined) return [];
  const json = await format(JSON.stringify(body), { parser: 'json', printWidth: 72 });
  return [`-H 'Content-Type: application/json'`, `-d ${quote(json.trim())}`];
}

/** A command for bash and similar shells. */
export async function curl(request: SampleRequest): Promise<string> {
  const hasBody = request.body !== undefined;
  const implied = hasBody ? 'post' : 'get';
  const url = BASE_URL + buildTarget(request);
  const options = [
    ...(request.method === implied ? [] : [`-X ${request.method.toUpperCase()}`]),
    ...CREDENTIALS[request.credentials],
    ...(request.answer === 'stream' ? ['-N'] : []),
    ...(request.answer === 'audio' ? [`-o ${AUDIO}`] : []),
    /[?&]/.test(url) ? quote(url) : url,
  ].join(' ');
  return ['curl ' + options, ...(await bodyOptions(request))].join(' \\\n  ');
}
