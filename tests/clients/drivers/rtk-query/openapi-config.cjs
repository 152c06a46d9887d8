// #region docs
module.exports = {
  schemaFile: './openapi.yaml',
  apiFile: './empty-api.ts',
  apiImport: 'emptyApi',
  outputFile: './trunkline.ts',
  exportName: 'trunkline',
};
// #endregion
