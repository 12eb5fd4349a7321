/** How long the body of a request may take, ms. */
export const BODY_MS = 30_000;
