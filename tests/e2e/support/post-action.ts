import type { BuiltAction } from './admin-routes';

/** Fields of a form, as an argument of an action. */
export class Fields {
  constructor(readonly values: Record<string, string>) {}
}

/** Calls a server action as React's client does. */
export async function postAction(
  url: string,
  { id, path }: Pick<BuiltAction, 'id' | 'path'>,
  args: unknown[],
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'text/x-component', 'next-action': id, ...headers },
    body: encode(args),
  });
}

/** Sends a form that names an action, as a browser without scripts does. */
export async function postForm(
  url: string,
  { id, path }: Pick<BuiltAction, 'id' | 'path'>,
  headers: Record<string, string>,
): Promise<Response> {
  const body = new FormData();
  body.set(`$ACTION_ID_${id}`, '');
  body.set('name', 'forged');
  return fetch(url + path, { method: 'POST', redirect: 'manual', headers, body });
}

function encode(args: unknown[]): FormData {
  const body = new FormData();
  const text = JSON.stringify(args, (_, value) => {
    if (!(value instanceof Fields)) return value;
    for (const [name, field] of Object.entries(value.values)) body.append(`_1_${name}`, field);
    return '$K1';
  });
  body.append('0', text);
  return body;
}
