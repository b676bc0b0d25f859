import { existsSync, readFileSync } from 'node:fs';

/** Name of all unknown routes and methods. Without a common name, clients could create any number of series. */
export const OTHER = 'other';

/** Files of the build, whose names change with every build. */
const BUILT = '/_next/';

interface Branch {
  /** Name of the route that ends here. */
  route?: string;
  fixed: Map<string, Branch>;
  /** The branch of a segment such as `[id]`. */
  any?: Branch;
  /** Name of the route that matches all further segments, such as `[...path]`. */
  rest?: string;
}

/** Path of the file that lists all routes of a production build, relative to the working directory. */
const ROUTES_FILE = '.next/app-path-routes-manifest.json';

/**
 * Returns a function that names the routes of the production build. Without a build, no route has a name of its own.
 */
export function nameBuiltRoute(): (path: string) => string {
  if (!existsSync(ROUTES_FILE)) return routeNames([]);
  return routeNames(Object.values(JSON.parse(readFileSync(ROUTES_FILE, 'utf8')) as Record<string, string>));
}

/**
 * Returns a function that names the route of a path, so that a metric has only one series for each route.
 *
 * @param routes paths as in the folder `app`, such as `/admin/customers/[id]`
 */
export function routeNames(routes: string[]): (path: string) => string {
  const root: Branch = { fixed: new Map() };
  for (const route of routes) plant(root, route, segmentsOf(route));
  return (path) => {
    if (path.startsWith(BUILT)) return `${BUILT}*`;
    return find(root, segmentsOf(path)) ?? OTHER;
  };
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '');

function plant(branch: Branch, route: string, [segment, ...further]: string[]): void {
  if (segment === undefined) branch.route = route;
  else if (segment.startsWith('[...') || segment.startsWith('[[...')) branch.rest = route;
  else plant(branchOf(branch, segment), route, further);
}

function branchOf(branch: Branch, segment: string): Branch {
  if (segment.startsWith('[')) {
    branch.any ??= { fixed: new Map() };
    return branch.any;
  }
  const known = branch.fixed.get(segment) ?? { fixed: new Map() };
  branch.fixed.set(segment, known);
  return known;
}

function find(branch: Branch, segments: string[], at = 0): string | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.route;
  const fixed = branch.fixed.get(segment);
  return (
    (fixed && find(fixed, segments, at + 1)) ??
    (branch.any && find(branch.any, segments, at + 1)) ??
    branch.rest
  );
}
