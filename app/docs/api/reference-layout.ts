import type { System } from './swagger-system';

/**
 * Swagger UI's parts beneath headings that continue the page's own: its usual layout brings a title, a main
 * element and a choice of servers.
 */
export function ReferenceLayout({ React: { createElement: h }, getComponent, specSelectors }: System) {
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
