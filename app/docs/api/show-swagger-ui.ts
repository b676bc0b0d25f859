import type * as React from 'react';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';

const STYLES = new URL('swagger-ui-dist/swagger-ui.css', import.meta.url).href;

interface SecurityScheme {
  description: string;
}

/** The part of Swagger UI's API that our plugins and components use. */
export interface System {
  /** Swagger UI's own copy of React. Swagger UI cannot render elements that another copy created. */
  React: typeof React;
  /** @param connected whether the component receives the system as props and re-renders when its state changes */
  getComponent(name: string, connected: true): React.ElementType;
  specSelectors: {
    selectInfoDescriptionField(): string;
    /** The OpenAPI document as a map of the Immutable library. */
    specJson(): { getIn(path: string[]): { toJS(): never } | undefined };
  };
  layoutActions: { show(what: string[], shown: boolean): void };
  authSelectors: {
    /** Returns the security schemes that the open dialog asks for, by name. */
    shownDefinitions(): { toJS(): Record<string, SecurityScheme>[] };
    authorized(): { has(scheme: string): boolean };
  };
  authActions: {
    showDefinitions(shown: false): void;
    authorize(credentials: Record<string, { schema: SecurityScheme; value: string }>): void;
    logout(schemes: string[]): void;
  };
}

/**
 * Shows an OpenAPI document. Swagger UI stores nothing between visits and sends requests only to the document's servers.
 *
 * @param root a new, empty element; removing it removes everything that this function added to the page
 * @param leaving signal that stops listening for changes of the URL's fragment
 */
export async function showSwaggerUi(root: HTMLElement, spec: object, leaving: AbortSignal): Promise<void> {
  await addStyles(root);
  const ui = SwaggerUI({
    domNode: root.appendChild(document.createElement('div')),
    spec,
    layout: 'ReferenceLayout',
    plugins: [plugin],
    validatorUrl: null,
    persistAuthorization: false,
    deepLinking: true,
    displayRequestDuration: true,
  });
  // Swagger UI itself reads the URL only once, at the start.
  window.addEventListener('hashchange', () => openOperation(root, ui.getSystem()), { signal: leaving });
}

/** Opens the operation in the URL's fragment, such as `#/Payments/listPayments`. */
function openOperation(root: HTMLElement, { layoutActions }: System): void {
  const [, tag, operation] = decodeURIComponent(window.location.hash).split('/');
  if (!tag || !operation) return;
  layoutActions.show(['operations', tag, operation], true);
  root.querySelector(`[id="operations-${tag}-${operation}"]`)?.scrollIntoView();
}

function addStyles(root: HTMLElement): Promise<unknown> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = STYLES;
  return new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () => reject(new Error(`${STYLES} did not load`));
    root.append(link);
  });
}

/** Replaces Swagger UI's layout, authorization dialog and links, and wraps its inputs and parameter lists. */
const plugin = {
  components: {
    ReferenceLayout,
    authorizationPopup: AuthorizationDialog,
    // Show plain text, because Swagger UI's link would be inside the button that opens the operation.
    DeepLink: ({ text }: { text: string }) => text,
  },
  wrapComponents: { JsonSchemaForm: labelled, parameters: withSamples },
};

/** Adds a label to a parameter's input, because Swagger UI shows the name only in another table cell. */
function labelled(Field: React.ElementType, { React: { createElement: h } }: System) {
  return (props: { description: string }) => h('label', { 'aria-label': props.description }, h(Field, props));
}

/** Arranges Swagger UI's parts for our page. Omits the title, main element and server choice of the default layout. */
function ReferenceLayout({ React: { createElement: h }, getComponent, specSelectors }: System) {
  const part = (name: string, props = {}) => h(getComponent(name, true), props);
  return h(
    'div',
    { className: 'swagger-ui' },
    part('errors'),
    part('Markdown', { source: specSelectors.selectInfoDescriptionField() }),
    h('div', { className: 'operations-head' }, h('h2', null, 'Operations'), part('AuthorizeBtnContainer')),
    part('operations'),
    part('Models'),
  );
}

/** Shows the authorization form in a native dialog, which traps focus and closes on Escape. Tokens stay in memory. */
function AuthorizationDialog({ React, authActions, authSelectors, getComponent }: System) {
  const h = React.createElement;
  const dialog = React.useRef<HTMLDialogElement>(null);
  React.useLayoutEffect(() => {
    const node = dialog.current;
    node?.showModal();
    return () => node?.close(); // Return the focus to the element that opened the dialog.
  }, [React]);

  const schemes = authSelectors
    .shownDefinitions()
    .toJS()
    .flatMap(Object.entries<SecurityScheme>);
  const close = () => authActions.showDefinitions(false);
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
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

interface Sample {
  label: string;
  source: string;
}

interface Parts {
  pathMethod: [path: string, method: string];
}

/** Adds code samples above the parameters of an operation. */
function withSamples(Parameters: React.ElementType, system: System) {
  const h = system.React.createElement;
  return (props: Parts) =>
    h(
      system.React.Fragment,
      null,
      h(CodeSamples, { system, samples: samplesOf(system, props.pathMethod) }),
      h(Parameters, props),
    );
}

function samplesOf({ specSelectors }: System, [path, method]: Parts['pathMethod']): Sample[] {
  const samples: Sample[] =
    specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])?.toJS() ?? [];
  return samples.map(({ label, source }) => ({
    label,
    source: source.replaceAll('https://admin.example.com', window.location.origin),
  }));
}

function CodeSamples({ system: { React }, samples }: { system: System; samples: Sample[] }) {
  const h = React.createElement;
  const [chosen, choose] = React.useState(0);
  const [isCopied, setCopied] = React.useState(false);
  const sample = samples[chosen];
  if (!sample) return null;
  const tab = ({ label }: Sample, i: number) =>
    h(
      'button',
      {
        key: label,
        type: 'button',
        className: 'btn',
        'aria-pressed': i === chosen,
        onClick: () => {
          choose(i);
          setCopied(false);
        },
      },
      label,
    );
  const copy = () => navigator.clipboard.writeText(sample.source).then(() => setCopied(true));
  return h(
    'div',
    { className: 'code-samples' },
    h(
      'div',
      { className: 'code-samples-head' },
      h('h4', null, 'Example'),
      h('div', { role: 'group', 'aria-label': 'Language' }, samples.map(tab)),
      h('button', { type: 'button', className: 'btn', onClick: copy }, isCopied ? 'Copied' : 'Copy'),
    ),
    h('pre', { tabIndex: 0 }, sample.source),
  );
}
