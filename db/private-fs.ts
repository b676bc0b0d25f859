import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type Options = Parameters<NodeFS['init']>[1];
type Attributes = { mode?: number | undefined };

/** The file system of Emscripten over node's, as far as modes go through it. */
interface Nodefs {
  node_ops: { mknod(parent: unknown, name: string, mode: number, dev: unknown): unknown };
  doSetAttr(file: unknown, node: unknown, attributes: Attributes, ...more: unknown[]): void;
}

/** PGlite's files for their owner alone: by itself it makes them for everybody, to read and to write. */
export class PrivateFs extends NodeFS {
  override async init(pg: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [emscriptenOpts.preRun ?? []].flat();
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [restrictModes, ...preRun] } };
  }
}

function restrictModes(postgres: object): void {
  const { NODEFS: nodefs } = postgres as { NODEFS: Nodefs };
  const { doSetAttr, node_ops } = nodefs;
  const { mknod } = node_ops;
  node_ops.mknod = (parent, name, mode, dev) => mknod(parent, name, mode & ~0o077, dev);
  nodefs.doSetAttr = (file, node, { mode, ...others }, ...more) => {
    const attributes = mode === undefined ? others : { ...others, mode: mode & ~0o077 };
    doSetAttr(file, node, attributes, ...more);
  };
}
