import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { plugin } from './swagger-plugin';
import type { System } from './swagger-system';

const STYLES = new URL('swagger-ui-dist/swagger-ui.css', import.meta.url).href;

/**
 * Shows a document, keeping nothing between visits and asking nothing of other origins.
 *
 * @param root an element of its own: to remove it is all there is to tidy up
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
  // Swagger UI itself reads the address once.
  window.addEventListener('hashchange', () => openOperation(root, ui.getSystem()), { signal: leaving });
}

/** Opens the operation that the address names: `#/Payments/listPayments`. */
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
