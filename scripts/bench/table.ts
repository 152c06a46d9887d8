export const benchTable = async () => {};
