import { buildProduct } from './build';
import { createFolder, prepareDatabase } from './global-setup';

/** Builds the product once, while the database is made. */
export default async function systemSetup(): Promise<void> {
  const folder = createFolder();
  await Promise.all([prepareDatabase(folder), buildProduct(folder)]);
}
