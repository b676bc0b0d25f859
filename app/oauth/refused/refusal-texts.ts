/** Texts for OAuth errors. Each says what is wrong, and then what to do. */
export const REFUSAL_TEXTS: Record<string, string> = {
  expired: 'The request has expired, or was changed in transit. Start the connection again in the app.',
  invalid_client:
    'This service does not know the app, or cannot read its description. In the app, delete its stored data for this server and connect again, so that it registers again: in Claude Code use /mcp, then Clear authentication; in Codex run codex mcp logout; in most other apps remove the server and add it again. If that does not help, an admin can register the app by hand. Some apps, such as Claude Code and Codex, publish their description on their website. This service must be able to read it over https.',
  invalid_redirect:
    'The app asks for the answer to be sent to an address that it has not registered. In the app, remove this server and add it again, so that it registers the address.',
  client_disabled: 'An admin has blocked this app. Ask an admin to allow it, then connect again in the app.',
  too_many_requests:
    'There were too many attempts. Wait a minute, then start the connection again in the app.',
  invalid_scope:
    'The app asks for permissions that do not exist here. In the app, leave the scopes of this server empty, then connect again.',
  invalid_target:
    'The app asks for access to a different service. In the app, enter the address that the page “Connect a client” shows, then connect again.',
  interaction_required:
    'The app wants to connect without asking you, which is not possible here. Start the connection in the app yourself.',
  unsupported_response_type:
    'The app asks for a type of response that is not supported here. Update the app, then connect again.',
  server_error: 'Something went wrong here. Try again later.',
};

/** Returns our text for an OAuth error code. Never show text from the URL, because anyone can craft such a link. */
export function refusalText(error: string): string {
  const text = Object.hasOwn(REFUSAL_TEXTS, error) ? REFUSAL_TEXTS[error] : undefined;
  return text ?? 'The app’s request is incomplete or invalid. Update the app, then connect again.';
}
