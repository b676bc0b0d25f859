/** Scenarios of the conformance suite that hold for any server. */
export const APPLICABLE = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];

const FIXTURE_TOOL = 'calls a tool that only a server made for the suite has';
const ASKS_CLIENT = 'needs a fixture tool that asks the client something: ours ask nothing';
const NO_LOGGING = 'this server declares no logging';
const NO_COMPLETIONS = 'this server declares no completions';
const NO_RESOURCES = 'this server declares no resources';
const NO_PROMPTS = 'this server declares no prompts';
const NO_STREAMS = 'needs a session and event streams: each answer here is one JSON body';

/** The others, and why. */
export const NOT_APPLICABLE: Record<string, string> = {
  'tools-call-simple-text': FIXTURE_TOOL,
  'tools-call-image': FIXTURE_TOOL,
  'tools-call-audio': FIXTURE_TOOL,
  'tools-call-embedded-resource': FIXTURE_TOOL,
  'tools-call-mixed-content': FIXTURE_TOOL,
  'tools-call-error': FIXTURE_TOOL,
  'tools-call-with-progress': FIXTURE_TOOL,
  'json-schema-2020-12': FIXTURE_TOOL,
  'tools-call-sampling': ASKS_CLIENT,
  'tools-call-elicitation': ASKS_CLIENT,
  'elicitation-sep1034-defaults': ASKS_CLIENT,
  'elicitation-sep1330-enums': ASKS_CLIENT,
  'logging-set-level': NO_LOGGING,
  'tools-call-with-logging': NO_LOGGING,
  'completion-complete': NO_COMPLETIONS,
  'server-sse-polling': NO_STREAMS,
  'server-sse-multiple-streams': NO_STREAMS,
  'resources-list': NO_RESOURCES,
  'resources-read-text': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
  'resources-subscribe': NO_RESOURCES,
  'resources-unsubscribe': NO_RESOURCES,
  'prompts-list': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
};
