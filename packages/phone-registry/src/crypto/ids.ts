import { randomBytes } from "node:crypto";

/** 128 random bits, base64url: says nothing, not even when. */
export const randomId = (): string => randomBytes(16).toString("base64url");
