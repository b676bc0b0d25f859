// This file is preloaded into a test server. SMALL_INTERNET contains a local port and host names. The names resolve to
// a public IP address, and connections to them are redirected to the port after the server's own check of the address.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const [port, ...names] = (process.env.SMALL_INTERNET ?? '').split(',');
const PUBLIC = { address: '1.1.1.1', family: 4 };
const LOOPBACK = { address: '127.0.0.1', family: 4 };

const answer = (found, options, done) =>
  options.all ? done(null, [found]) : done(null, found.address, found.family);

const { lookup } = dns;
dns.lookup = (name, options, done) =>
  names.includes(name) && done ? answer(PUBLIC, options, done) : lookup(name, options, done);
syncBuiltinESMExports();

const { connect } = Socket.prototype;
Socket.prototype.connect = function (options, ...rest) {
  if (!names.includes(options?.host) || !options.lookup) return connect.call(this, options, ...rest);
  const diverted = (name, asked, done) =>
    options.lookup(name, asked, (error, found) => {
      const address = Array.isArray(found) ? found[0]?.address : found;
      if (error || address !== PUBLIC.address) done(error ?? new Error('no way there'));
      else answer(LOOPBACK, asked, done);
    });
  return connect.call(this, { ...options, port: Number(port), lookup: diverted }, ...rest);
};
