import { isJsonContentType } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { AppError } from '@/lib/errors';
import { parseJson, readBody } from '@/lib/http/read-body';
import type { HttpRequest } from '@/lib/http/request';
import { RPC, rpcError } from '../answers';

const ACCEPTABLE = /^(\*\/\*|application\/(json|\*)|text\/(event-stream|\*))$/;

/** A message, parsed and as its bytes. */
export interface Message {
  message: unknown;
  bytes: Uint8Array;
}

const nullArguments = z.looseObject({ params: z.looseObject({ arguments: z.null() }) });

/** @returns the message of a body of acceptable size, type and form; else the refusal */
export async function readMessage(request: HttpRequest): Promise<Message | Response> {
  const bytes = await readBytes(request);
  if (bytes instanceof Response) return bytes;
  return checkContentType(request) ?? checkAccept(request) ?? parseMessage(bytes);
}

async function readBytes(request: HttpRequest): Promise<Uint8Array | Response> {
  try {
    return await readBody(request);
  } catch (error) {
    if (error instanceof AppError) return rpcError(413, RPC.refused, error.message);
    return rpcError(400, RPC.parseError, 'The body could not be read.'); // the sender went away
  }
}

function checkContentType(request: HttpRequest): Response | null {
  if (isJsonContentType(request.headers.get('content-type'))) return null;
  return rpcError(415, RPC.refused, 'Send the message as Content-Type: application/json.');
}

function checkAccept(request: HttpRequest): Response | null {
  const accept = request.headers.get('accept');
  if (accept === null || accept.trim() === '' || accept.split(',').some(isAcceptable)) return null;
  return rpcError(406, RPC.refused, 'Accept application/json: every answer is of that type.');
}

function isAcceptable(range: string): boolean {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  return ACCEPTABLE.test(type) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
}

function parseMessage(bytes: Uint8Array): Message | Response {
  let message: unknown;
  try {
    message = parseJson(bytes);
  } catch {
    return rpcError(400, RPC.parseError, 'Parse error: the body is not valid JSON.');
  }
  if (Array.isArray(message)) {
    return rpcError(400, RPC.invalidRequest, 'Batches are not supported. Send one message a request.');
  }
  return withoutNullArguments(message) ?? { message, bytes };
}

/** Some clients write `"arguments": null` for a call without arguments. @returns null for any other message */
function withoutNullArguments(given: unknown): Message | null {
  const { data } = nullArguments.safeParse(given);
  if (!data) return null;
  const { arguments: _, ...params } = data.params;
  const message = { ...data, params };
  return { message, bytes: Buffer.from(JSON.stringify(message)) };
}
