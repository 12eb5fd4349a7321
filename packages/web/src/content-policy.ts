// The app's content security policy: hosts send it as a header; index.html contains it for hosts that do not.

const DIRECTIVES = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "worker-src 'self'",
  // The wallet can pay any https URL, and servers on this machine.
  "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
  "base-uri 'none'",
  "form-action 'none'",
];

/** For the header `Content-Security-Policy`. */
export const CONTENT_POLICY = [...DIRECTIVES, "frame-ancestors 'none'"].join("; ");

/** For `<meta http-equiv>`: browsers accept `frame-ancestors` only in a header. */
export const META_CONTENT_POLICY = DIRECTIVES.join("; ");
