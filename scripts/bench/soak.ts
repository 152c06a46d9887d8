export const benchSoak = async () => {};
