export const ARTIFACTS_LOCK = { set: "development", circuits: {} } as const;
