import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import type { DiskRoom } from './disk-room';

type Options = Parameters<NodeFS['init']>[1];
type Attributes = { mode?: number | undefined };
type Write = (stream: { path?: string }, ...more: unknown[]) => number;

/** The parts of Emscripten's file system on top of node's that set modes and write. */
interface Nodefs {
  node_ops: { mknod(parent: unknown, name: string, mode: number, dev: unknown): unknown };
  stream_ops: { write: Write };
  doSetAttr(file: unknown, node: unknown, attributes: Attributes, ...more: unknown[]): void;
}

/** ENOSPC and EDQUOT, by Emscripten's numbers. */
const NO_SPACE = [51, 19];

/**
 * PGlite's files, for their owner alone: by itself it makes them for everybody, to read and to write. A write-ahead
 * log that finds no room takes the reserve.
 */
export class PrivateFs extends NodeFS {
  constructor(
    path: string,
    private readonly room: DiskRoom,
  ) {
    super(path);
  }

  override async init(pg: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [emscriptenOpts.preRun ?? []].flat();
    const watch = (postgres: object) => watchRoom((postgres as { NODEFS: Nodefs }).NODEFS, this.room);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [restrictModes, watch, ...preRun] } };
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

function watchRoom({ node_ops, stream_ops }: Nodefs, room: DiskRoom): void {
  const { mknod } = node_ops;
  const { write } = stream_ops;
  node_ops.mknod = (parent, name, mode, dev) => {
    if (name.startsWith('xlogtemp')) room.hasLogGrown = true;
    return mknod(parent, name, mode, dev);
  };
  stream_ops.write = (stream, ...more) => {
    try {
      return write(stream, ...more);
    } catch (error) {
      if (!NO_SPACE.includes((error as { errno?: number }).errno ?? 0)) throw error;
      room.wasMissed = true;
      if (!stream.path?.includes('/pg_wal/')) throw error;
      if (room.spendReserve()) return stream_ops.write(stream, ...more);
      room.logFailures += 1;
      throw error;
    }
  };
}
