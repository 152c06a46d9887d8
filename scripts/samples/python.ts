import { AUDIO, BASE_URL, buildTarget, type SampleRequest, type Value } from './request';

const MAX_WIDTH = 80;

const scalar = (value: string | number | boolean | null): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
};

/** Formats a value as Python: on one line if it fits after `before` characters. */
function literal(value: Value, indent: string, before: number): string {
  if (value === null || typeof value !== 'object') return scalar(value);
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = (write: (item: Value, key: string) => string): string[] =>
    Array.isArray(value)
      ? value.map((item) => write(item, ''))
      : Object.entries(value).map(([key, item]) => write(item, `${JSON.stringify(key)}: `));
  const line = open + parts((item, key) => key + literal(item, inner, -1e6)).join(', ') + close;
  if (before + line.length < MAX_WIDTH || line.length === 2) return line;
  const lines = parts(
    (item, key) => `${inner}${key}${literal(item, inner, inner.length + key.length + 1)},\n`,
  );
  return `${open}\n${lines.join('')}${indent}${close}`;
}

const argument = (name: string, value: Value) =>
  `${name}=${literal(value, '    ', name.length + 6)}`;

function bodyArguments({ body, file, audio }: SampleRequest): string[] {
  if (audio) return [`data=open("${audio}", "rb")`];
  if (!file) return body === undefined ? [] : [argument('json', body)];
  return [
    ...(Object.keys(body as object).length > 0 ? [argument('data', body!)] : []),
    `files={"${file.field}": open("${file.name}", "rb")}`,
  ];
}

const CREDENTIALS = {
  key_pair: ['auth=("public_key", "private_key")'],
  user_token: ['headers={"Authorization": "Token USER_TOKEN"}'],
  endpoint_token: ['headers={"Authorization": "Token ENDPOINT_TOKEN"}'],
  none: [],
};

const PRINT = {
  json: 'print(response.json())',
  text: 'print(response.text)',
  audio: `open("${AUDIO}", "wb").write(response.content)`,
  stream: 'for line in response.iter_lines(decode_unicode=True):\n    print(line)',
};

export function python(request: SampleRequest): string {
  const query = { ...request.query, ...request.token };
  const lines = [
    JSON.stringify(BASE_URL + buildTarget({ ...request, query: {}, token: {} })),
    ...CREDENTIALS[request.credentials],
    ...(Object.keys(query).length > 0 ? [argument('params', query)] : []),
    ...bodyArguments(request),
    ...(request.answer === 'stream' ? ['stream=True'] : []),
  ];
  return [
    'import requests\n',
    `response = requests.${request.method}(`,
    ...lines.map((line) => `    ${line},`),
    ')',
    'response.raise_for_status()',
    PRINT[request.answer],
  ].join('\n');
}
