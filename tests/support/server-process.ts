import { randomBytes, randomUUID } from 'node:crypto';
import * as webhook from '@/app/api/stripe/webhook/route';
import * as payments from '@/app/api/w5t/payments/route';
import { openPostgres } from '@/db/client';
import { TRANSACTION_POOLER } from '@/db/pooler';
import { parseEnv } from '@/lib/env';
import { createLogger } from '@/lib/log';
import { setRuntime } from '@/lib/runtime';
import { serveRoutes } from './serve-routes';

// A server in a process of its own, to be killed: DATABASE_URL in, its address out.
const env = parseEnv(process.env);
const { db, close } = openPostgres(env.databaseUrl ?? '', {
  pooler: env.databasePooler === 'transaction' ? TRANSACTION_POOLER : undefined,
});
const log = createLogger(env.logLevel);
setRuntime({ env, db, stripe: null, now: () => new Date(), newId: randomUUID, randomBytes, log, close });
const { url } = await serveRoutes({ '/api/stripe/webhook': webhook, '/api/w5t/payments': payments });
console.log(url);
