import { format } from 'prettier';
import { BASE_URL, targetOf, type SampleRequest } from './request';

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const CREDENTIALS = {
  key_pair: ['-u public_key:private_key'],
  user_token: [`-H 'Authorization: Token USER_TOKEN'`],
  endpoint_token: [`-H 'Authorization: Token ENDPOINT_TOKEN'`],
  none: [],
};

async function bodyOptions({ body, file }: SampleRequest): Promise<string[]> {
  if (file)
    return [
      ...Object.entries(body as object).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`),
      `-F ${quoted(`${file.field}=@${file.name}`)}`,
    ];
  if (body === undefined) return [];
  const json = await format(JSON.stringify(body), { parser: 'json', printWidth: 72 });
  return [`-H 'Content-Type: application/json'`, `-d ${quoted(json.trim())}`];
}

/** A command for bash and similar shells. */
export async function curl(request: SampleRequest): Promise<string> {
  const has_body = request.body !== undefined;
  const implied = has_body ? 'post' : 'get';
  const url = BASE_URL + targetOf(request);
  const options = [
    ...(request.method === implied ? [] : [`-X ${request.method.toUpperCase()}`]),
    ...CREDENTIALS[request.credentials],
    ...(request.answer === 'stream' ? ['-N'] : []),
    /[?&]/.test(url) ? quoted(url) : url,
  ].join(' ');
  return ['curl ' + options, ...(await bodyOptions(request))].join(' \\\n  ');
}
