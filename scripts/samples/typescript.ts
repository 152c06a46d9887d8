import { format } from 'prettier';
import { BASE_URL, type SampleRequest } from './request';

const AUTHORIZATION = {
  key_pair: "`Basic ${btoa('public_key:private_key')}`",
  user_token: "'Token USER_TOKEN'",
  endpoint_token: "'Token ENDPOINT_TOKEN'",
  none: undefined,
};

function client({ credentials, audio }: SampleRequest): string {
  const authorization = AUTHORIZATION[credentials];
  const headers = authorization ? `headers: { Authorization: ${authorization} },` : '';
  return `
    ${audio ? "import { openAsBlob } from 'node:fs';" : ''}
    import createClient from 'openapi-fetch';
    import type { paths } from './trunkline';

    const client = createClient<paths>({
      baseUrl: '${BASE_URL}',
      ${headers}
    });
  `;
}

function form({ body, file, audio }: SampleRequest): string {
  if (audio) return `const audio = await openAsBlob('${audio}');`;
  if (!file) return '';
  const fields = Object.entries(body as object).map(
    ([name, value]) => `form.set(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  const content = `new Blob([${JSON.stringify(file.content)}])`;
  return `
    const form = new FormData();
    ${fields.join('\n')}
    form.set('${file.field}', ${content}, '${file.name}');
  `;
}

type Body = Pick<SampleRequest, 'body' | 'file' | 'audio'>;

function pickBody({ body, file, audio }: Body): string | undefined {
  if (file) return 'form as never';
  return audio ? 'audio as never' : JSON.stringify(body);
}

/** The client would send JSON. */
const AUDIO_OPTIONS = "bodySerializer: (blob) => blob, headers: { 'Content-Type': 'audio/wav' }";

function options(request: SampleRequest): string {
  const { path, query, token, body, file, audio, answer } = request;
  const params = {
    ...(Object.keys(path).length > 0 && { path }),
    ...(Object.keys(query).length > 0 && { query }),
  };
  const [credential] = Object.entries(token);
  const bodyCode = pickBody({ body, file, audio });
  const parts = [
    ...(Object.keys(params).length > 0 ? [`params: ${JSON.stringify(params)}`] : []),
    ...(credential ? [`querySerializer: () => '${credential.join('=')}'`] : []),
    ...(bodyCode === undefined ? [] : [`body: ${bodyCode}`]),
    ...(audio ? [AUDIO_OPTIONS] : []),
    ...(answer === 'json' ? [] : [`parseAs: '${answer === 'audio' ? 'blob' : answer}'`]),
  ];
  return parts.length > 0 ? `, { ${parts.join(', ')} }` : '';
}

/** A module for openapi-fetch, with the types that openapi-typescript makes of the contract. */
export async function typescript(request: SampleRequest): Promise<string> {
  const source = `
    ${client(request)}
    ${form(request)}
    const { data, error } = await client.${request.method.toUpperCase()}(
      '${request.template}'${options(request)}
    );
    console.log(error ?? data);
  `;
  const formatted = await format(source, {
    parser: 'typescript',
    singleQuote: true,
    printWidth: 80,
  });
  return formatted.trim();
}
