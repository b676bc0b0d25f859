const TEXTS: Record<string, string> = {
  expired: 'The request has expired, or was changed in transit. Start the connection again in the app.',
  invalid_client:
    'The app is not known here, or its description could not be read. An admin can register it by hand.',
  invalid_redirect: 'The app wants the answer sent to an address that it has not registered.',
  client_disabled: 'An admin has blocked this app.',
  too_many_requests: 'Too many attempts. Wait a minute, then start the connection again.',
  invalid_scope: 'The app asks for permissions that do not exist here.',
  invalid_target: 'The app asks for access to a different service.',
  interaction_required: 'The app wants to connect without asking you, which is not possible here.',
  unsupported_response_type: 'The app asks for a type of response that is not supported here.',
  server_error: 'Something went wrong here. Try again later.',
};

/** What was wrong, in a sentence of ours: what stands in the address may be anybody's. */
export function refusalText(error: string): string {
  return (Object.hasOwn(TEXTS, error) && TEXTS[error]) || 'The app’s request is incomplete or invalid.';
}
