import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

/** What lies below these is for admins; everything else below /admin for all staff. */
const FOR_ADMINS = ['/admin/imports', '/admin/tokens', '/admin/staff', '/admin/settings'];

export interface AdminRoute {
  path: string;
  kind: 'page' | 'route';
  forAdmins: boolean;
}

/** Every page and route handler below app/admin, with `segment` in place of what varies. */
export function listAdminRoutes(segment: string): AdminRoute[] {
  return readdirSync(join(ROOT, 'app/admin'), { recursive: true, encoding: 'utf8' })
    .map((file) => /^(?:(.*)\/)?(page|route)\.tsx?$/.exec(file))
    .filter((match) => match !== null)
    .map(([, folder = '', kind]) => {
      const segments = folder.split('/').filter((name) => name !== '' && !/^\(.*\)$/.test(name));
      const path = ['/admin', ...segments.map((name) => name.replace(/^\[.*\]$/, segment))].join('/');
      return { path, kind: kind as AdminRoute['kind'], forAdmins: isForAdmins(path) };
    });
}

/** A server action of the build. */
export interface BuiltAction {
  id: string;
  /** `app/admin/tokens/new/actions.ts#issue`. */
  name: string;
  /** A page that carries it, with `segment` in place of what varies. */
  path: string;
  forAdmins: boolean;
}

/** Every server action that the build knows. */
export function listServerActions(segment: string): BuiltAction[] {
  const text = readFileSync(join(ROOT, '.next/server/server-reference-manifest.json'), 'utf8');
  const { node } = JSON.parse(text) as { node: Record<string, ManifestEntry> };
  return Object.entries(node).map(([id, { filename, exportedName, workers }]) => {
    const [page = ''] = Object.keys(workers);
    const path = page
      .replace(/^app/, '')
      .replace(/\/page$/, '')
      .replace(/\[[^\]]*\]/g, segment);
    return { id, name: `${filename}#${exportedName}`, path, forAdmins: isForAdmins(path) };
  });
}

interface ManifestEntry {
  filename: string;
  exportedName: string;
  workers: Record<string, unknown>;
}

function isForAdmins(path: string): boolean {
  return FOR_ADMINS.some((place) => path === place || path.startsWith(`${place}/`));
}
