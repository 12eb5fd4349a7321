/** Runs in the page: writes to a separate database until the origin has no room for another byte. */
export async function fillStorage(): Promise<void> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open("filling", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("parts", { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const write = (bytes: number) =>
    new Promise<boolean>((resolve) => {
      const transaction = database.transaction("parts", "readwrite");
      transaction.objectStore("parts").add(crypto.getRandomValues(new Uint8Array(bytes)));
      transaction.oncomplete = () => resolve(true);
      transaction.onabort = () => resolve(false);
    });
  for (const bytes of [65_536, 4_096, 256, 1]) while (await write(bytes));
  database.close();
}
