/** Next keeps parameters in an object, in which one of this name is lost before a route sees the address. */
const LOST = '__proto__';
/** The parameter's name on the way through Next. No real parameter has this name. */
const CARRIED = `${LOST}\n`;

/** The path and query of a request so that no parameter is lost on the way through Next. */
export function carryParameters(url: string): string {
  const [path = '', ...query] = url.split('?');
  if (query.length === 0) return url;
  return `${path}?${query.join('?').split('&').map(carry).join('&')}`;
}

function carry(parameter: string): string {
  const [name = '', ...value] = parameter.split('=');
  const isLost = new URLSearchParams(name).has(LOST);
  return isLost ? [encodeURIComponent(CARRIED), ...value].join('=') : parameter;
}

/** The name that a parameter had when it came. */
export function carriedName(name: string): string {
  return name === CARRIED ? LOST : name;
}
