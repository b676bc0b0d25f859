import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as errors from '@/lib/errors';
import { toAppError } from '@/lib/http/messages';
import { createLogger, logHooks } from '@/lib/log';
import { DatabaseBusyError } from '@/lib/open-database';
import { logConsole } from '@/lib/server/log-console';

let written: string[] = [];
const log = pino({ base: null, hooks: logHooks() }, { write: (line) => written.push(line) });
const library = console;
const lines = () => written.map((line) => JSON.parse(line));

beforeEach(() => {
  written = [];
});

/**
 * Fakes timers, because the limit on log lines lasts one second. Other tests keep the real timers, because loading a
 * module also uses them.
 */
function fakeClock(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => {
    vi.runOnlyPendingTimers();
    vi.useRealTimers();
  });
}

describe('limits on log lines', () => {
  fakeClock();

  test('at most twenty equal warnings per second are logged, and then the number of dropped ones', () => {
    for (let i = 0; i < 50; i += 1) log.warn({ i }, 'refused');
    log.error('another message');
    expect(lines().map(({ msg }) => msg)).toEqual([...Array(20).fill('refused'), 'another message']);
    written = [];
    vi.advanceTimersByTime(1000);
    expect(lines()).toMatchObject([{ level: 40, dropped: 30, message: 'refused' }]);
    written = [];
    log.warn('refused');
    vi.advanceTimersByTime(1000);
    expect(lines()).toMatchObject([{ msg: 'refused' }]);
  });

  test('log lines at level info are never dropped', () => {
    for (let i = 0; i < 50; i += 1) log.info('webhook');
    expect(written).toHaveLength(50);
  });
});

test('control characters that JSON does not escape are escaped in the log', () => {
  const sent = 'a\u009b31m\u0085b\u2028c\u202ed\u007f';
  log.warn({ client_id: sent }, 'authorization refused');
  expect(written.join('')).toContain(String.raw`a\u009b31m\u0085b\u2028c\u202ed\u007f`);
  expect(lines()).toMatchObject([{ client_id: sent }]);
});

describe('output of libraries', () => {
  fakeClock();
  const methods = { ...console };
  const warnings = process.listeners('warning');
  beforeEach(() => logConsole(log));
  afterEach(() => {
    Object.assign(console, methods);
    process.removeAllListeners('warning');
    for (const listener of warnings) process.on('warning', listener);
  });

  test.each([
    ['a forged line', ['/x\n{"level":50,"msg":"forged"}'], '/x'],
    ['a carriage return', ['a\r{"level":50}'], 'a'],
    ['a line separator', ['a\u2028{"level":50}'], 'a'],
    ['colours and moves', ['\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b[2Jtext'], 'red text'],
    ['several values', [' ⨯ ', 'a', { secret: 'x' }, 7], '⨯  a'],
    ['a long text', ['a'.repeat(5000)], 'a'.repeat(200)],
    ['no arguments', [], ''],
  ])('library output with %s becomes a single log line', (_, given, printed) => {
    library.log(...given);
    expect(written).toHaveLength(1);
    expect(written[0]?.indexOf('\n')).toBe((written[0]?.length ?? 0) - 1);
    expect(lines()[0]).toMatchObject({ level: 40, msg: 'a library printed', printed });
    expect(lines()[0]).not.toHaveProperty('secret');
  });

  test('an error logged by a library is written without its message', () => {
    const details = { digest: '123', code: '22021' };
    const error = new TypeError('select from staff where email = grace@example.com');
    library.error(' ⨯', Object.assign(error, details));
    const stack = expect.stringMatching(/^\s+at /);
    expect(lines()).toMatchObject([{ level: 50, error: 'TypeError', ...details, printed: '⨯', stack }]);
    expect(written.join('')).not.toMatch(/select|grace/);
  });

  test('a Node.js warning becomes a log line without its message', () => {
    process.emit('warning', new Error('with what somebody sent'));
    expect(lines()).toMatchObject([{ level: 40, error: 'Error' }]);
    expect(written.join('')).not.toContain('somebody');
  });
});

test('error classes of another bundle are recognized, so that their errors are not reported as internal', async () => {
  // @ts-expect-error TypeScript cannot resolve a path with a query. It loads the module again, as another bundle does.
  const other: typeof errors = await import('@/lib/errors?another-bundle');
  const { AppError, StartError, NotMigratedError } = other;
  expect(AppError).not.toBe(errors.AppError);
  const thrown = new AppError('too_many_requests', 'Try again.', [], 5);
  expect(toAppError(thrown, 'ref', createLogger('silent'))).toBe(thrown);

  const classes = [errors.AppError, errors.StartError, errors.NotMigratedError, DatabaseBusyError];
  const classesOf = (error: unknown) => classes.filter((one) => error instanceof one);
  expect(classesOf(thrown)).toEqual([errors.AppError]);
  expect(classesOf(new StartError(['a']))).toEqual([errors.StartError]);
  expect(classesOf(new NotMigratedError())).toEqual([errors.StartError, errors.NotMigratedError]);
  expect(classesOf(new DatabaseBusyError('data', 1, undefined))).toEqual([
    errors.StartError,
    DatabaseBusyError,
  ]);
  const others = [new Error('AppError'), { name: 'AppError', kind: 'AppError' }, Object.create(null), null];
  for (const other of [...others, 'AppError']) expect(classesOf(other)).toEqual([]);
});
