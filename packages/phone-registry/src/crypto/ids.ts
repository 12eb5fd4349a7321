import { randomBytes } from "node:crypto";

/** 128 random bits, base64url. They reveal nothing, not even the time. */
export const randomId = (): string => randomBytes(16).toString("base64url");
