/** Options of fetch for a request that does not identify the user: no cookies, no referrer, and no cache. */
export const ANONYMOUS = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" } as const;
