import { describe, expect, test } from 'vitest';
import { countFailure, countStrangeFailure, type SignInCounter } from '@/lib/auth/sign-in/sign-in-delays';

const START = new Date('2026-03-15T12:00:00Z');
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const wait = (counter: SignInCounter, now: Date) => (counter.wait_until.getTime() - now.getTime()) / 1000;

describe('the delays of an address or a device', () => {
  test('begin with the fifth failure, double, and end at an hour', () => {
    const waits: number[] = [];
    let counter: SignInCounter | undefined;
    for (let i = 0; i < 15; i += 1) {
      counter = countFailure(counter, START);
      waits.push(wait(counter, START));
    }
    expect(waits).toEqual([0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]);
  });

  test('are forgotten a day after the last failure', () => {
    const held = { failures: 9, wait_until: START, expires_at: at(1) };
    expect(countFailure(held, START)).toMatchObject({ failures: 10, expires_at: at(86_400) });
    expect(countFailure(held, at(1))).toMatchObject({ failures: 1, wait_until: at(1) });
  });
});

describe('the failures of all unknown devices', () => {
  test('are a hundred in the hour that began with the first', () => {
    let counter: SignInCounter | undefined;
    for (let i = 0; i < 99; i += 1) counter = countStrangeFailure(counter, at(i));
    expect(counter).toEqual({ failures: 99, wait_until: at(98), expires_at: at(3600) });
    expect(countStrangeFailure(counter, at(99)).wait_until).toEqual(at(3600));
    expect(countStrangeFailure(counter, at(3600))).toMatchObject({ failures: 1, wait_until: at(3600) });
  });
});
