import type { Collection } from './collection';
import { notFound } from './errors';
import { expand } from './expand';
import { referencesOf } from './filters';
import { listPage } from './list';
import type { WorldObject } from './model';
import { envelope } from './part-lists';
import { parseListQuery, parseRetrieveQuery, type Query } from './query';
import { renderObject } from './render/object';
import { type Json, shapeOf } from './render/shape';
import type { World } from './world';

/** One GET: answers the body. */
export type Endpoint = (view: { world: World; version: string }, id: string, params: URLSearchParams) => Json;

/**
 * A list, newest first.
 *
 * @param allowed its filters, with `created` among them
 * @param matcher for the filters that name no object
 */
export function listOf<T extends WorldObject>(
  noun: T['object'],
  of: (world: World) => Collection<T>,
  allowed: readonly string[],
  matcher: (query: Query, world: World) => (object: T) => boolean = () => () => true,
): Endpoint {
  return ({ world, version }, _id, params) => {
    const query = parseListQuery(params, allowed);
    const collection = of(world);
    const references = referencesOf(world, query);
    const matches = matcher(query, world);
    const page = listPage(
      collection,
      query,
      noun,
      (object) => references.every(([name, id]) => fieldOf(object, name) === id) && matches(object),
      narrowest<T>(references),
    );
    const shape = shapeOf(version);
    const data = page.data.map((object) => renderObject(object, shape));
    expand({ world, shape }, noun, data, query.expand, true);
    return envelope({ ...page, data }, urlOf(noun));
  };
}

export function retrieve<T extends WorldObject>(
  noun: T['object'],
  of: (world: World) => Collection<T>,
): Endpoint {
  return ({ world, version }, id, params) => {
    const paths = parseRetrieveQuery(params);
    const object = of(world).get(id);
    if (!object) throw notFound(noun, id);
    const shape = shapeOf(version);
    const rendered = renderObject(object, shape);
    expand({ world, shape }, noun, [rendered], paths, false);
    return rendered;
  };
}

function narrowest<T extends WorldObject>(references: [string, string][]) {
  // The last one is the smaller: a subscription has fewer invoices than its customer.
  const [field, value] = references.at(-1) ?? [];
  return field === undefined ? undefined : { field: field as keyof T, value };
}

function fieldOf(object: WorldObject, name: string): unknown {
  return (object as unknown as Json)[name];
}

function urlOf(noun: WorldObject['object']): string {
  return noun === 'checkout.session' ? '/v1/checkout/sessions' : `/v1/${noun}s`;
}
