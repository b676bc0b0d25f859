const SERVER = 'https://admin.example.com';

interface Sample {
  lang: string;
  label: string;
  source: string;
}

type Request = { method: string; url: string; body: string | undefined };

/**
 * How an operation is called, in three languages; the extension is one that many viewers know.
 *
 * @param path with `{id}`, which becomes 1
 */
export function codeSamples(
  method: string,
  path: string,
  body?: Record<string, unknown>,
): { 'x-codeSamples': Sample[] } {
  const url = SERVER + path.replace('{id}', '1');
  const request = { method, url, body: body && JSON.stringify(body, null, 2) };
  return {
    'x-codeSamples': [
      { lang: 'shell', label: 'curl', source: toCurl(request) },
      { lang: 'javascript', label: 'JavaScript', source: toJavaScript(request) },
      { lang: 'python', label: 'Python', source: toPython(request) },
    ],
  };
}

function toCurl({ method, url, body }: Request): string {
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    `-H "Authorization: Bearer $ACCESS_TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${body}'`] : []),
  ].join(' \\\n  ');
}

function toJavaScript({ method, url, body }: Request): string {
  const type = body ? "\n    'Content-Type': 'application/json'," : '';
  return [
    `const response = await fetch('${url}', {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: {\n    Authorization: \`Bearer \${process.env.ACCESS_TOKEN}\`,${type}\n  },`,
    ...(body ? [`  body: JSON.stringify(${indent(body)}),`] : []),
    '});',
    method === 'DELETE' ? 'console.log(response.status);' : 'console.log(await response.json());',
  ].join('\n');
}

/** With `requests`; a JSON object of texts and numbers is one of Python's too. */
function toPython({ method, url, body }: Request): string {
  return [
    'import os',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    '    headers={"Authorization": f"Bearer {os.environ[\'ACCESS_TOKEN\']}"},',
    ...(body ? [`    json=${indent(body, '    ')},`] : []),
    ')',
    method === 'DELETE' ? 'print(response.status_code)' : 'print(response.json())',
  ].join('\n');
}

function indent(text: string, by = '  '): string {
  return text.replaceAll('\n', `\n${by}`);
}
