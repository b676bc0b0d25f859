import type { FormEvent } from 'react';
import type { SecurityScheme, System } from './swagger-system';

/**
 * A native dialog, which keeps the focus and closes with Escape. Tokens are kept in the page's memory
 * only. The fields turn off autofill and spell checking.
 */
export function AuthorizationDialog({ React, authActions, authSelectors, getComponent }: System) {
  const h = React.createElement;
  const dialog = React.useRef<HTMLDialogElement>(null);
  React.useLayoutEffect(() => {
    const node = dialog.current;
    node?.showModal();
    return () => node?.close(); // gives the focus back
  }, [React]);

  const schemes = authSelectors
    .shownDefinitions()
    .toJS()
    .flatMap(Object.entries<SecurityScheme>);
  const close = () => authActions.showDefinitions(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    for (const [name, schema] of schemes) {
      const value = String(fields.get(name) ?? '').trim();
      if (value) authActions.authorize({ [name]: { schema, value } });
    }
    close();
  };
  const forget = (name: string) =>
    h('button', { type: 'button', className: 'btn', onClick: () => authActions.logout([name]) }, 'Log out');
  const input = (name: string) =>
    h('input', { id: `token-${name}`, name, type: 'text', autoComplete: 'off', spellCheck: false });
  const field = ([name, { description }]: [string, SecurityScheme]) =>
    h(
      'div',
      { key: name, className: 'authorization-scheme' },
      h('label', { htmlFor: `token-${name}` }, name),
      h(getComponent('Markdown', true), { source: description }),
      authSelectors.authorized().has(name) ? forget(name) : input(name),
    );

  return h(
    'dialog',
    { ref: dialog, className: 'authorization', 'aria-labelledby': 'authorization-title', onClose: close },
    h(
      'form',
      { onSubmit: submit },
      h('h2', { id: 'authorization-title' }, 'Authorize'),
      schemes.map(field),
      h(
        'div',
        { className: 'authorization-buttons' },
        h('button', { type: 'button', className: 'btn', onClick: close }, 'Close'),
        h('button', { className: 'btn primary' }, 'Authorize'),
      ),
    ),
  );
}
