import { format } from 'prettier';
import { BASE_URL, type SampleRequest } from './request';

const AUTHORIZATION = {
  key_pair: "`Basic ${btoa('public_key:private_key')}`",
  user_token: "'Token USER_TOKEN'",
  endpoint_token: "'Token ENDPOINT_TOKEN'",
  none: undefined,
};

function client({ credentials }: SampleRequest): string {
  const authorization = AUTHORIZATION[credentials];
  const headers = authorization ? `headers: { Authorization: ${authorization} },` : '';
  return `
    import createClient from 'openapi-fetch';
    import type { paths } from './trunkline';

    const client = createClient<paths>({
      baseUrl: '${BASE_URL}',
      ${headers}
    });
  `;
}

function form({ body, file }: SampleRequest): string {
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

function options({ path, query, token, body, file, answer }: SampleRequest): string {
  const params = {
    ...(Object.keys(path).length > 0 && { path }),
    ...(Object.keys(query).length > 0 && { query }),
  };
  const [credential] = Object.entries(token);
  const bodyCode = file ? 'form as never' : JSON.stringify(body);
  const parts = [
    ...(Object.keys(params).length > 0 ? [`params: ${JSON.stringify(params)}`] : []),
    ...(credential ? [`querySerializer: () => '${credential.join('=')}'`] : []),
    ...(bodyCode === undefined ? [] : [`body: ${bodyCode}`]),
    ...(answer === 'json' ? [] : [`parseAs: '${answer}'`]),
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
