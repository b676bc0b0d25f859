import { describe, expect, test } from 'vitest';
import { countedAddress } from '@/lib/auth/sign-in/counted-address';

describe('the address that is counted', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:DB8:1:2::', '2001:db8:1:2::'],
    ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::'],
    ['2001:db8::1', '2001:db8:0:0::'],
    ['::1', '0:0:0:0::'],
    ['fe80::1%eth0', 'fe80:0:0:0::'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('%s counts as %s', (header, counted) => {
    expect(countedAddress(header)).toBe(counted);
  });

  test.each([
    null,
    '',
    '192.0.2.1, 198.51.100.1',
    '192.0.2.1:443',
    '[2001:db8::1]',
    '192.0.2',
    '1.2.3.4.5',
    'x',
  ])('%j is nobody in particular', (header) => {
    expect(countedAddress(header)).toBe('unknown');
  });
});
