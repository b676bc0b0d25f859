import type { PGlite, Transaction } from '@electric-sql/pglite';
import { pgErrorCode } from './database';
import { type DiskRoom, NoRoomError } from './disk-room';

const READ_ONLY = '25006';

type Query = PGlite['query'];

interface Opened {
  pglite: PGlite;
  isBroken(): boolean;
}

/**
 * The embedded database of a folder, as drizzle uses it. While its disk has too little room for writes, its
 * transactions are read-only. If the write-ahead log finds no room all the same, statements are refused, and the
 * database is opened again once there is room.
 */
export class EmbeddedClient {
  private isReadOnly = false;
  private opening: Promise<void> | undefined;

  private constructor(
    private opened: Opened,
    private readonly room: DiskRoom,
    private readonly open: () => Promise<PGlite>,
  ) {}

  /** @param open opens the files of the folder; called again after the write-ahead log found no room */
  static async create(room: DiskRoom, open: () => Promise<PGlite>): Promise<EmbeddedClient> {
    return new EmbeddedClient(watch(await open(), room), room, open);
  }

  private get pglite(): PGlite {
    return this.opened.pglite;
  }

  readonly query: Query = async (...given) => {
    await this.prepare();
    return this.pglite.query<never>(...given).catch((error) => this.fail(error));
  };

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.prepare();
    return this.pglite
      .transaction((tx) => work(Object.assign(Object.create(tx), { query: this.queryInside(tx) })))
      .catch((error) => this.fail(error));
  }

  async dumpDataDir(compression: 'none' | 'gzip'): Promise<File | Blob> {
    await this.prepare();
    return this.pglite.dumpDataDir(compression);
  }

  close(): Promise<void> {
    return this.pglite.close();
  }

  private async prepare(): Promise<void> {
    const { room } = this;
    if (this.opened.isBroken()) await this.reopen();
    const isReadOnly = !room.hasWriteRoom();
    if (isReadOnly !== this.isReadOnly) {
      await this.pglite.exec(`set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
      this.isReadOnly = isReadOnly;
    }
    if (!isReadOnly) room.keepReserve();
    if (room.hasLogGrown) {
      room.hasLogGrown = false;
      await this.pglite.exec('checkpoint'); // PGlite has no checkpointer: its log would grow for as long as it runs
    }
  }

  /** A long transaction may use up the room that it began with. */
  private queryInside(tx: Transaction): Query {
    return async (...given) => {
      if (!this.isReadOnly && !this.room.hasWriteRoom()) await tx.exec('set transaction_read_only = on');
      return tx.query<never>(...given).catch((error) => this.fail(error));
    };
  }

  private fail(error: unknown): never {
    const isForRoom =
      this.opened.isBroken() || (pgErrorCode(error) === READ_ONLY && !this.room.hasWriteRoom());
    throw isForRoom ? new NoRoomError(error) : error;
  }

  private reopen(): Promise<void> {
    this.opening ??= this.openAgain().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async openAgain(): Promise<void> {
    if (!this.room.hasWriteRoom()) throw new NoRoomError();
    this.opened = watch(await this.open(), this.room);
    this.isReadOnly = false;
  }
}

/** After its write-ahead log found no room, PostgreSQL never answers again, not even to a rollback. */
function watch(pglite: PGlite, room: DiskRoom): Opened {
  const send = pglite.execProtocolRawSync.bind(pglite);
  const failures = room.logFailures;
  const isBroken = () => room.logFailures !== failures;
  pglite.execProtocolRawSync = (message) => {
    if (isBroken()) throw new NoRoomError();
    return send(message);
  };
  return { pglite, isBroken };
}
