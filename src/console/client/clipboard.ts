import { showToast } from './toast';

/** Copies a text, and says so; browsers give no clipboard to pages without https. */
export async function copyText(text: string, done = 'Copied.'): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    showToast('The browser does not allow it here: mark the text and copy it.', { tone: 'bad' });
    return false;
  }
  showToast(done);
  return true;
}
