/** Acquires a Web Lock until this worker ends, without waiting for it. @returns whether no other tab holds it */
export function acquireTabLock(name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const hold = (lock: Lock | null) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise<never>(() => {});
    };
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(reject);
  });
}
